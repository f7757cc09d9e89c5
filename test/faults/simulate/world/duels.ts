import type { NewCell } from '../../../../shared/cell.ts';
import { rowKeyIn } from '../../row-keys.ts';
import type { Judge } from '../judge.ts';
import type { World } from './world.ts';

/** How far apart two writers of one address begin. */
const MOST_APART_MS = 12;
/** By then a write of a healthy group was answered: a writer that dies does so in between, or just after. */
const MOST_ALIVE_MS = 10;
const REPEATS = [2, 8] as const;
const MOST_PAUSE_MS = 1500;

/**
 * Two writers send two bodies to one address at about the same time, of which one or both die at it; others send one of
 * the two again and again for a while. Whatever is lost meanwhile, only one of the bodies may ever be answered as
 * stored.
 *
 * @param group whose shard it is
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
      .sleep(random.between(0, MOST_APART_MS))
      .then(() => send(world, judge, cellOf(2), random.chance(0.2) ? random.between(0, MOST_ALIVE_MS) : undefined)),
  ]);
  for (let repeats = random.integer(...REPEATS); repeats > 0; repeats -= 1) {
    await time.sleep(random.between(0, MOST_PAUSE_MS));
    await send(world, judge, cellOf(random.integer(1, 2)), undefined);
  }
}

/** By an instance of its own, which dies after so long. */
async function send(
  { time, chronicle, start }: World,
  judge: Judge,
  cell: NewCell,
  aliveMs: number | undefined,
): Promise<void> {
  const instance = start('writing');
  // It knows the topology by then; where it cannot, it writes nothing.
  const store = await instance.datastore().catch(() => undefined);
  if (!store) return;
  if (aliveMs !== undefined) time.after(aliveMs, () => instance.die());
  const result = await Promise.race([store.put(cell), instance.death.then(() => undefined)]);
  if (result) judge.put(cell, result);
  else chronicle.abandoned(cell);
}
