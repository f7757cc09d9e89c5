import type { NewCell } from '../../../../shared/cell.ts';
import { baseCell, rowKeyIn } from '../../row-keys.ts';
import { bufferedRows, type Judge } from '../judge.ts';
import type { World } from './world.ts';

/** Cells written to the unavailable group. */
const CELLS = 240;
const BATCH = 24;
/** How long another group is unavailable, after those were buffered. */
const SHORTLY_MS = 3000;
/** Writes that were buffered for it in that time. */
const FEW = 4;
/** How long one group is unavailable: as many runs of the drain as in hours of production. */
const UNAVAILABLE_MS = 400_000;
/** The limit to drain the rows of all available groups, however many wait for the unavailable one. */
const DRAINED_MS = 240_000;
const POLL_EVERY_MS = 5000;

/**
 * Makes a primary unavailable for long while writes to it continue, and another one shortly. Returns the rows not
 * drained in time.
 */
export async function longAbsence(world: World, judge: Judge): Promise<readonly string[]> {
  const { time, random, groups, weather, topology } = world;
  const [unavailable, shortly] = [...groups.keys()].sort(() => random.next() - 0.5) as [string, string];
  const store = await world.start('writing').datastore();

  async function write(group: string, count: number): Promise<void> {
    const shards = new Set(topology.shardsOf(group));
    const cells = Array.from({ length: count }, () => baseCell(rowKeyIn(random, shards, world.shards), { group }));
    for (const [position, result] of (await store.batchPut(cells)).entries())
      judge.put(cells[position] as NewCell, result);
  }

  weather.unavailable.add(unavailable);
  for (let written = 0; written < CELLS; written += BATCH) {
    await write(unavailable, BATCH);
    await time.sleep(random.between(0, 500));
  }
  weather.unavailable.add(shortly);
  await write(shortly, FEW);
  await time.sleep(SHORTLY_MS);
  weather.unavailable.delete(shortly);
  const since = time.now();
  const waiting = (): number =>
    bufferedRows(groups).filter(({ shard }) => topology.home(shard).group !== unavailable).length;
  while (waiting() > 0 && time.now() < since + DRAINED_MS) await time.sleep(POLL_EVERY_MS);
  const behind = waiting();
  for (let last = time.now() + (behind === 0 ? UNAVAILABLE_MS : 0); time.now() < last;) {
    await time.sleep(random.between(0, 20_000));
    await write(unavailable, 1);
  }
  weather.unavailable.delete(unavailable);
  return behind > 0
    ? [
        `${behind} writes to ${shortly}, which was away for ${SHORTLY_MS / 1000} s, still wait after ${DRAINED_MS / 1000} s, since ${unavailable} is away`,
      ]
    : [];
}
