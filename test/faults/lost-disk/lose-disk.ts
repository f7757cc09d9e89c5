import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { untilAllRun } from '../kill/kills.ts';
import { stopReceiving } from '../races/lose-last-cells.ts';
import type { Stage } from '../../support/indexed/stage.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { copiesOfUnshown, headsAt, type Copies, type Heads } from './copies.ts';

export interface DiskLoss extends Copies {
  readonly group: string;
  /** What the promoted reader had of each log: the rest is lost until it is appended again. */
  readonly cut: Heads;
  /** Epoch milliseconds: when the disk was lost, and when all nodes were back in their roles. */
  readonly lostAt: number;
}

export interface DiskLossOptions extends Pick<RunWorld, 'signal' | 'say'> {
  readonly stage: Stage;
  readonly groups: readonly GroupAccess[];
  /** Its first reader lags and is promoted; all others are stopped meanwhile. */
  readonly group: string;
  readonly random: Random;
  /** How long the reader receives nothing. The drain has seen each copy a few times by then. */
  readonly lagMs: number;
  /** As soon as it is promoted. @default nothing is done to it */
  readonly promoted?: () => Promise<void>;
}

const LEAST_STOPPED_MS = 300;
const MOST_STOPPED_MS = 1200;

/**
 * A group's first reader stops receiving; then its other readers are stopped with SIGSTOP, the writer dies with its disk,
 * and the reader that lags is promoted. Returns once every node is back.
 */
export async function loseDisk({ stage, groups, group: name, random, lagMs, promoted, signal, say }: DiskLossOptions): Promise<DiskLoss> {
  const { servers, folder } = stage;
  const nodes = servers.groups.find((group) => group.name === name)?.nodes ?? [];
  const writer = nodes.find(({ role }) => role === 'writer');
  const [lagging, ...others] = nodes.filter(({ role }) => role === 'reader');
  if (!writer || !lagging) throw new Error(`${name} has no writer, or no reader`);
  const place = nodes.indexOf(lagging);

  await stopReceiving(servers, name);
  await sleep(lagMs, undefined, { signal });
  const copies = await copiesOfUnshown(groups, name, place);
  for (const { node } of others) servers.pause(node);
  await sleep(random.between(LEAST_STOPPED_MS, MOST_STOPPED_MS), undefined, { signal });
  const lostAt = Date.now();
  await servers.kill(writer.node);
  rmSync(join(folder, 'servers', 'groups', writer.node, 'data'), { recursive: true });
  const cut = await headsAt(groups, name, { node: place });
  await servers.promote(name);
  await promoted?.();
  say(`${writer.node} died with its disk; ${lagging.node} is promoted without the last ${copies.ahead.toLocaleString('en-US')} cells or more, ${copies.uncopied} of which had no copy`);

  await sleep(random.between(LEAST_STOPPED_MS, MOST_STOPPED_MS), undefined, { signal });
  for (const { node } of others) servers.resume(node);
  await untilAllRun(servers, signal);
  return { ...copies, group: name, cut, lostAt };
}
