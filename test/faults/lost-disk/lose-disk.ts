import { setTimeout as sleep } from 'node:timers/promises';
import { killWithDisk, stopReceiving, untilAllRun } from '../../support/nodes.ts';
import type { Random } from '../../support/random.ts';
import { grouped } from '../../support/text-table.ts';
import type { Stage } from '../stage.ts';
import { copiesOfUnshown, headsAt, type Copies, type Heads } from './copies.ts';

export interface DiskLoss extends Copies {
  readonly group: string;
  /** What the promoted reader had of each log: the rest is lost until it is appended again. */
  readonly cut: Heads;
  /** Epoch milliseconds: when the disk was lost. */
  readonly lostAt: number;
}

export interface DiskLossOptions {
  /** Its first reader lags and is promoted; all others are stopped meanwhile. */
  readonly group: string;
  readonly random: Random;
  /** How long the reader receives nothing. The drain has seen each copy a few times by then. */
  readonly lagMs: number;
  /** What has to have come of the copies before the disk is lost; a minute is waited for it. @default nothing */
  readonly awaits?: (copies: Copies) => boolean;
  /** As soon as it is promoted. @default nothing is done to it */
  readonly promoted?: () => Promise<void>;
}

const LEAST_STOPPED_MS = 300;
const MOST_STOPPED_MS = 1200;
const MOST_LOOKS = 60;
const LOOK_MS = 1000;

/**
 * A group's first reader stops receiving; then its other readers are stopped with SIGSTOP, the writer dies with its
 * disk, and the reader that lags is promoted. Returns once every node is back.
 */
export async function loseDisk(
  { world: { signal, say }, cluster, access: { groups } }: Stage,
  { group: name, random, lagMs, awaits, promoted }: DiskLossOptions,
): Promise<DiskLoss> {
  const { servers } = cluster;
  const nodes = servers.groups.find((group) => group.name === name)?.nodes ?? [];
  const [lagging, ...others] = nodes.filter(({ role }) => role === 'reader');
  if (!lagging) throw new Error(`${name} has no reader`);
  const place = nodes.indexOf(lagging);
  const pause = (): Promise<void> => sleep(random.between(LEAST_STOPPED_MS, MOST_STOPPED_MS), undefined, { signal });
  await stopReceiving(servers, name);
  await sleep(lagMs, undefined, { signal });
  let copies = await copiesOfUnshown(groups, name, place);
  for (let looks = 0; awaits?.(copies) === false && looks < MOST_LOOKS; looks++) {
    await sleep(LOOK_MS, undefined, { signal });
    copies = await copiesOfUnshown(groups, name, place);
  }
  for (const { node } of others) servers.pause(node);
  await pause();
  const lostAt = Date.now();
  const writer = await killWithDisk(cluster, name);
  const cut = await headsAt(groups, name, { node: place });
  await servers.promote(name);
  await promoted?.();
  say(
    `${writer} died with its disk; ${lagging.node} is promoted without the last ${grouped(copies.ahead)} cells or more, ${copies.uncopied} of which had no copy`,
  );
  await pause();
  for (const { node } of others) servers.resume(node);
  await untilAllRun(servers, signal);
  return { ...copies, group: name, cut, lostAt };
}
