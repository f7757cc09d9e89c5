import { UNSAFE_FLUSHING } from '../../support/cluster.ts';
import { Random } from '../../support/random.ts';
import { grouped } from '../../support/text-table.ts';
import { lossCheck } from '../aftermath.ts';
import { countsLine } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';

const WRITERS = 32;
const GROUPS = 3;
const KILLS = 8;
const CELLS = 30_000;
/** The pause before each kill, so that every server is hit in the middle of writing. */
const PAUSE_MS = [1500, 3500] as const;
/** The time for the cells, on a slow machine. */
const PATIENCE_MS = 600_000;

export const killRun = stagedRun({
  name: 'kill',
  promise: 'An acknowledged write is never lost',
  fault: `kill -9 of a group's writer ${KILLS} times, in turn over ${GROUPS} groups, under ${WRITERS} writers`,
  control: 'no buffer and unsafe flushing',
  servers: { groups: GROUPS, shards: 48, restartAfterSeconds: 1 },
  controlServers: { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING },
  real: (stage) => killUnderLoad(stage, KILLS, CELLS),
  without: (stage) => killUnderLoad(stage, 3, 6000),
  judge: ({ aftermath, drained }, control) => ({
    checks: [lossCheck('acknowledged cells lost, other faults', aftermath, control.aftermath, CELLS)],
    notes: [`buffered writes: ${drained}; none left ${aftermath.drainSeconds.toFixed(1)} s after the load`],
  }),
});

/** Kills writers, in turn over the groups, each once all servers are back; then waits for this many cells. */
async function killUnderLoad(stage: Stage, kills: number, cells: number) {
  const drain = await stage.drain();
  const load = await stage.load({ writers: WRITERS, cells: BATCHES_AND_REPEATS });
  const random = new Random(stage.world.seed, 'kills', 0);
  const start = performance.now();
  const untilAcked = (wanted: number): Promise<boolean> =>
    load.untilAcked(wanted, PATIENCE_MS - (performance.now() - start));
  for (let kill = 0; kill < kills; kill += 1) {
    // Spread over the whole load.
    await untilAcked((kill * cells) / (kills + 1));
    await stage.wait(random.between(...PAUSE_MS));
    const node = await stage.kill(stage.groupInTurn(kill));
    stage.say(`kill -9 of ${node}, number ${kill + 1}, at ${grouped(load.acked)} cells`);
    await stage.untilAllRun();
  }
  await untilAcked(cells);
  const { written } = await load.stop();
  await stage.untilAllRun();
  return { aftermath: await stage.inspect(written), drained: countsLine(drain.progress ?? {}) };
}
