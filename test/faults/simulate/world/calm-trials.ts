import type { NewCell } from '../../../../shared/cell.ts';
import { rowKeyIn } from '../../row-keys.ts';
import type { Judge } from '../judge.ts';
import type { SimulatedGroup } from '../servers/simulated-group.ts';
import { addressKey } from './chronicle.ts';
import type { World } from './world.ts';

/** The share of seeds with each trial. */
const STALL_SHARE = 0.1;
const SHOWN_SHARE = 0.1;

/** Runs trials of rare faults, one at a time, once the world is healthy. */
export async function calmTrials(world: World, judge: Judge): Promise<void> {
  const groups = [...world.groups.values()] as [SimulatedGroup, ...SimulatedGroup[]];
  if (world.random.chance(STALL_SHARE)) await stalledWrites(world, judge, world.random.pick(groups));
  if (world.random.chance(SHOWN_SHARE)) await shownThenLost(world, judge, world.random.pick(groups));
}

const STALLED_WRITES = 6;
const STALLED_WRITES_WITHIN_MS = 2000;
/** The limit for a write of a healthy group: a late hint is sent to another group after 250 ms. */
const MOST_MS = 1500;

/** Stalls the writes of one group while it answers reads. Writes of other groups must not wait. */
async function stalledWrites(world: World, judge: Judge, sick: SimulatedGroup): Promise<void> {
  const { random, time, topology, allShards, shards } = world;
  const healthy = new Set(allShards.filter((shard) => topology.home(shard).group !== sick.name));
  if (healthy.size === 0) return;
  const store = await world.start('writing').datastore();
  sick.stall();
  await Promise.all(
    Array.from({ length: STALLED_WRITES }, async (_, ref_key) => {
      const cell = { row_key: rowKeyIn(random, healthy, shards), column_name: 'STALL', ref_key, body: ref_key };
      await time.sleep(random.between(0, STALLED_WRITES_WITHIN_MS));
      const since = time.now();
      const result = await store.put(cell);
      const took = time.now() - since;
      judge.put(cell, result);
      if (result.outcome !== 'stored' || took > MOST_MS)
        judge.breaks(`a write was answered ${result.outcome} after ${took.toFixed(0)} ms while another group stalled`);
    }),
  );
  sick.flow();
}

const APPENDED_WITHIN_MS = 30_000;
const POLL_MS = 20;
/** Longer than the trial. */
const BEHIND_MS = 60_000;
const TRIES = 4;

/**
 * Reads a cell that was answered `buffered`, and loses its writer before a reader has the cell. Then other clients send
 * another body to the address.
 */
async function shownThenLost(world: World, judge: Judge, group: SimulatedGroup): Promise<void> {
  const { random, time, topology, chronicle, weather } = world;
  const shards = new Set(topology.shardsOf(group.name));
  if (shards.size === 0) return;
  const row_key = rowKeyIn(random, shards, world.shards);
  const cellOf = (value: number): NewCell => ({ row_key, column_name: 'SHOWN', ref_key: 1, body: { value } });
  const store = await world.start('writing').datastore();
  const readers = group.nodes.flatMap((_, number) => (number === group.writer ? [] : [number]));
  for (const reader of readers) group.lag(reader, BEHIND_MS);
  // It does not arrive, and is drained; or it arrives, and its answer is lost.
  const trouble = random.chance(0.5) ? weather.unavailable : weather.mute;
  trouble.add(group.name);
  const first = await store.put(cellOf(1));
  trouble.delete(group.name);
  judge.put(cellOf(1), first);
  const isAppended = (): boolean => chronicle.appendedTo(addressKey(cellOf(1))).length > 0;
  for (const end = time.now() + APPENDED_WITHIN_MS; !isAppended() && time.now() < end;) await time.sleep(POLL_MS);
  judge.read(cellOf(1), await store.get(cellOf(1), { read: 'writer' }), [], undefined);
  await time.sleep(random.between(0, 200));
  group.crash(group.writer);
  await time.sleep(random.between(10, 500));
  group.promote(readers[0] ?? 0);
  for (const reader of readers) group.lag(reader, 0);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const other = await world.start('writing').datastore();
    judge.put(cellOf(2), await other.put(cellOf(2)));
    await time.sleep(random.between(0, 700));
  }
}
