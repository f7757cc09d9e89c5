import type { NewCell } from '../../../../shared/cell.ts';
import { baseCell, rowKeyIn } from '../../row-keys.ts';
import { bufferedRows, type Judge } from '../judge.ts';
import type { World } from './world.ts';

/** Cells that are written to the group that stays away. */
const CELLS = 240;
const BATCH = 24;
/** How long another group is away, after those were buffered. */
const SHORTLY_MS = 3000;
/** Of the writes that were buffered for it meanwhile. */
const FEW = 4;
/** How long one group stays away: many runs of the drain. In hours of real life there are as many. */
const AWAY_MS = 400_000;
/** By then whatever belongs to groups that are there has to be drained, however much waits for the one that is not. */
const DRAINED_MS = 240_000;
const LOOK_EVERY_MS = 5000;

/**
 * A primary stays away for long while writes to it go on; another is away shortly. Returns what was not drained in
 * time.
 */
export async function longAbsence(world: World, judge: Judge): Promise<readonly string[]> {
  const { time, random, groups, weather, topology } = world;
  const [away, shortly] = [...groups.keys()].sort(() => random.next() - 0.5) as [string, string];
  const store = await world.start('writing').datastore();

  async function write(group: string, count: number): Promise<void> {
    const shards = new Set(topology.shardsOf(group));
    const cells = Array.from({ length: count }, () => baseCell(rowKeyIn(random, shards, world.shards), { group }));
    for (const [position, result] of (await store.batchPut(cells)).entries())
      judge.put(cells[position] as NewCell, result);
  }

  weather.away.add(away);
  for (let written = 0; written < CELLS; written += BATCH) {
    await write(away, BATCH);
    await time.sleep(random.between(0, 500));
  }
  weather.away.add(shortly);
  await write(shortly, FEW);
  await time.sleep(SHORTLY_MS);
  weather.away.delete(shortly);
  const since = time.now();
  const waiting = (): number => bufferedRows(groups).filter(({ shard }) => topology.home(shard).group !== away).length;
  while (waiting() > 0 && time.now() < since + DRAINED_MS) await time.sleep(LOOK_EVERY_MS);
  const behind = waiting();
  for (let last = time.now() + (behind === 0 ? AWAY_MS : 0); time.now() < last;) {
    await time.sleep(random.between(0, 20_000));
    await write(away, 1);
  }
  weather.away.delete(away);
  return behind > 0
    ? [
        `${behind} writes to ${shortly}, which was away for ${SHORTLY_MS / 1000} s, still wait after ${DRAINED_MS / 1000} s, since ${away} is away`,
      ]
    : [];
}
