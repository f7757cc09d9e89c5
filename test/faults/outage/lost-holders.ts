import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { PutResult } from '../../../shared/cell.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { Random } from '../../support/random.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { Ledger, type AckedCell } from '../load/ledger.ts';
import { countUnreadable } from '../read-back.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { rowKeyIn, shardsOf } from './group-shards.ts';

/** Acknowledged cells of one group, and how many of them nobody can read any more. */
export interface Missing {
  readonly acked: number;
  readonly missing: number;
}

const GROUPS = 3;
const SHARDS = 12;
const CELLS = 300;
const SIDE_BY_SIDE = 8;
const POLL_MS = 50;
const PATIENCE_MS = 60_000;
const PRIMARY = 'group-1';
const [HOLDER, OTHER] = ['group-2', 'group-3'];

/**
 * Every group that holds copies of a group's writes dies right after the writes: with the primary up nothing is
 * missing. With the primary down, and one other group left to take a copy, what that group's disk held is gone.
 */
export async function loseHolders({ folder, engine, seed, signal, say }: RunWorld): Promise<{ readonly primaryUp: Missing; readonly primaryDown: Missing }> {
  await using cluster = await startCluster({ folder: join(folder, 'holders'), engine, groups: GROUPS, readers: 0, shards: SHARDS, bufferCopies: 1 });
  const { servers, access } = cluster;
  const random = new Random(seed, 'lost holders', 0);

  const stored = await writeTo(cluster, random, 'stored');
  for (const group of [HOLDER, OTHER]) await servers.kill(nodeOf(group));
  const primaryUp = await countMissing(access, stored);
  say(`both groups with copies died, the primary is up: ${primaryUp.missing} of ${primaryUp.acked} cells missing`);
  for (const group of [HOLDER, OTHER]) await servers.restart(nodeOf(group));
  await untilRunning(servers, [PRIMARY, HOLDER, OTHER], signal);

  for (const group of [PRIMARY, OTHER]) await servers.kill(nodeOf(group));
  const buffered = await writeTo(cluster, random, 'buffered');
  await servers.kill(nodeOf(HOLDER));
  rmSync(join(folder, 'holders', 'servers', 'groups', nodeOf(HOLDER), 'data'), { recursive: true });
  for (const group of [PRIMARY, OTHER]) await servers.restart(nodeOf(group));
  await untilRunning(servers, [PRIMARY, OTHER], signal);
  await drainOnce(access, [PRIMARY, OTHER]);
  const primaryDown = await countMissing(access, buffered);
  say(`the only copy died with its disk while the primary was down: ${primaryDown.missing} of ${primaryDown.acked} cells missing`);
  return { primaryUp, primaryDown };
}

/** Writes new cells of the primary, each of which must have this outcome. */
async function writeTo({ access }: Cluster, random: Random, wanted: PutResult['outcome']): Promise<readonly AckedCell[]> {
  await using store = await openStore(access);
  // With groups down, the heads of theirs are errors, which name the group as well.
  const shards = await shardsOf(store.datastore, PRIMARY);
  const ledger = new Ledger();
  const rowKeys = Array.from({ length: CELLS }, () => rowKeyIn(random, shards, SHARDS));
  const write = async (): Promise<void> => {
    for (let row_key = rowKeys.pop(); row_key !== undefined; row_key = rowKeys.pop()) {
      const cell = { row_key, column_name: 'BASE', ref_key: 1, body: { fare: random.integer(1, 1000) } };
      const result = await store.datastore.put(cell);
      if (result.outcome !== wanted) throw new Error(`a put: wanted ${wanted}, got ${JSON.stringify(result)}`);
      ledger.note(cell, result);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, write));
  return ledger.written().acked;
}

/** Asks with connections of its own, which have met none of the faults. */
async function countMissing(access: StoreAccess, acked: readonly AckedCell[]): Promise<Missing> {
  await using store = await openStore(access);
  return { acked: acked.length, missing: await countUnreadable(store.datastore, acked) };
}

/** Brings over whatever these groups still hold. */
async function drainOnce(access: StoreAccess, holders: readonly string[]): Promise<void> {
  await using store = await openStore(access);
  for (const holder of holders) await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0 });
}

function nodeOf(group: string): string {
  return `${group}-a`;
}

async function untilRunning(servers: ShardGroups, groups: readonly string[], signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (servers.status().some(({ group, state }) => groups.includes(group) && state !== 'running')) {
    if (performance.now() > deadline) throw new Error(`servers did not come back: ${JSON.stringify(servers.status())}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}
