import { openTriggered } from '../support/triggers/triggered-access.ts';
import { startBacklogStage } from './backlog/backlog-stage.ts';
import { fillLogs } from './backlog/fill-logs.ts';
import { readLogs, type Course } from './backlog/read-logs.ts';
import { tailLogs } from './backlog/tail-logs.ts';
import type { Bench, Findings } from './bench.ts';
import { linePlot, rowsOn } from './rows-and-plots.ts';

const CELLS = 200_000;
const SHARDS = 256;

export const backlogBench: Bench = {
  name: 'backlog',
  what: `one tailer and a trigger that begins at the start of ${SHARDS} shards with ${CELLS.toLocaleString('en-US')} cells, until SQS has them all`,
  limitMinutes: 3,

  async measure(world): Promise<Findings> {
    const { seed, signal, say } = world;
    await using stage = await startBacklogStage(world, SHARDS);
    await using store = await openTriggered(stage.access);
    await fillLogs(store, { cells: CELLS, seed, signal });
    say('filled, and on the readers');
    const cpuBefore = process.cpuUsage();
    const read = await readLogs(store);
    const { user, system } = process.cpuUsage(cpuBefore);
    say(`read in ${secondsOf(read).toFixed(1)} s`);
    await stage.deployTrigger();
    const { course: sent, tailerCpu, sqsCpu } = await tailLogs(stage, CELLS, world);
    const depth = await stage.depth();
    say(`sent in ${secondsOf(sent).toFixed(1)} s`);

    const [sentRate, readRate] = [CELLS / secondsOf(sent), CELLS / secondsOf(read)];
    const row = rowsOn(stage.engine);
    const all = CELLS.toLocaleString('en-US');
    return {
      measured: [
        row('cells a second: tailed, until SQS has them', sentRate.toFixed(0)),
        row(
          'cells a second: read with the same statements, and nothing done with them',
          `${readRate.toFixed(0)} (tailed: ${(sentRate / readRate).toFixed(2)} of it)`,
        ),
        row(
          'per cent of a core: the tailer, SQS; the bare reader',
          `${tailerCpu.toFixed(0)}, ${sqsCpu.toFixed(0)}; ${((user + system) / 10_000 / secondsOf(read)).toFixed(0)}`,
        ),
        row('messages in the queue, each cell once', depth.toLocaleString('en-US'), all, depth === CELLS),
      ],
      plots: [
        linePlot('A backlog worked off', { x: 'seconds', y: 'cells' }, [
          { name: 'tailed', points: sent },
          { name: 'read alone', points: read },
        ]),
      ],
    };
  },
};

function secondsOf(course: Course): number {
  return course.at(-1)?.[0] ?? Number.NaN;
}
