import type { NewCell } from '../../../../shared/cell.ts';
import { rowKeyIn } from '../../row-keys.ts';
import type { Judge } from '../judge.ts';
import type { World } from './world.ts';

/** The time between the starts of two writers of one address. */
const MOST_BETWEEN_MS = 12;
/** The time of a write of a healthy group: a dying writer dies before its answer, or just after. */
const MOST_ALIVE_MS = 10;
const REPEATS = [2, 8] as const;
const MOST_PAUSE_MS = 1500;

/**
 * Sends two bodies to one address from two writers at about the same time, of which one or both die; others repeat one
 * of the two for a while. Despite any loss, only one of the bodies may ever be answered as stored.
 *
 * @param group the owner of the shard
 */
export async function duel(world: World, judge: Judge, group: string): Promise<void> {
  const { random, time, topology } = world;
  const shards = new Set(topology.shardsOf(group));
  if (shards.size === 0) return;
  const row_key = rowKeyIn(random, shards, world.shards);
  const cellOf = (value: number): NewCell => ({ row_key, column_name: 'DUEL', ref_key: 1, body: { value } });

  await Promise.all([
    send(world, judge, cellOf(1), random.chance(0.6) ? random.between(0, MOST_ALIVE_MS) : undefined),
    time
      .sleep(random.between(0, MOST_BETWEEN_MS))
      .then(() => send(world, judge, cellOf(2), random.chance(0.2) ? random.between(0, MOST_ALIVE_MS) : undefined)),
  ]);
  for (let repeats = random.integer(...REPEATS); repeats > 0; repeats -= 1) {
    await time.sleep(random.between(0, MOST_PAUSE_MS));
    await send(world, judge, cellOf(random.integer(1, 2)), undefined);
  }
}

/** Sends from a separate instance, which dies after this time. */
async function send(
  { time, chronicle, start }: World,
  judge: Judge,
  cell: NewCell,
  aliveMs: number | undefined,
): Promise<void> {
  const instance = start('writing');
  // It knows the topology by then; if not, it writes nothing.
  const store = await instance.datastore().catch(() => undefined);
  if (!store) return;
  if (aliveMs !== undefined) time.after(aliveMs, () => instance.die());
  const result = await Promise.race([store.put(cell), instance.death.then(() => undefined)]);
  if (result) judge.put(cell, result);
  else chronicle.abandoned(cell);
}
