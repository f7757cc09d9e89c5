import { spawn } from 'node:child_process';
import type { Role } from '../../../shared/cell.ts';
import { withClient } from '../../support/past-the-store.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { grouped, sumOf, type Check } from '../fault-run.ts';
import { outcomesLine } from '../load/ledger.ts';
import { createPlainTables, PLAIN, type PlainAccess } from '../load/plain-tables.ts';
import type { Stage, StageLoad } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { compareKept, holesIn, storedLog, storedLogs, type StoredLog } from '../stored-cells.ts';
import { judgeReaders } from './judge-readers.ts';
import type { LogAccess, LogEnds, LogReaders, SeenLog } from './log-readers.ts';

/** Few, so that writers meet in each. */
const SHARDS = 4;
/** One, where all writers meet: a reader skips cells as often as writers meet. */
const CONTROL_SHARDS = 1;
const SECONDS = 60;
const CONTROL_SECONDS = 10;
const BUSY_PROCESSES = 3;
const WRITERS = 24;
const READERS = 16;
const READER_THREADS = 4;
const PATIENCE_MS = 60_000;
const LEAST_CELLS = 3000;
const LOAD_PATIENCE_MS = 300_000;
const REPORT_SECONDS = 10;

export const logRun = stagedRun({
  name: 'log',
  promise: 'A shard is a log: dense, in commit order; a reader that continues from its offset never skips a cell',
  fault: `${WRITERS} writers with 10 % repeated cells on ${SHARDS} shards, ${READERS} log readers on the writer and on a reader, CPU pressure`,
  control: 'a plain AUTO_INCREMENT table, plain inserts with 20 % repeats, readers that step over holes',
  servers: { groups: 1, readers: 1, shards: SHARDS, bufferCopies: 0 },
  async real(stage) {
    // CPU pressure from processes stops threads of writers and servers at every point there is. They are found by the
    // folder when the run is cut off.
    using pressure = new DisposableStack();
    for (let busy = 0; busy < BUSY_PROCESSES; busy += 1) {
      const child = spawn(process.execPath, ['--eval', 'for (;;);', stage.cluster.folder], { stdio: 'ignore' });
      pressure.defer(() => void child.kill('SIGKILL'));
    }
    const { access } = stage;
    const seconds = stage.world.seconds ?? SECONDS;
    // One cell in ten is a repeat: of an earlier one, of one sent at the same moment, or within a batch of five.
    const load = { cells: { batchShare: 0.1, batchSize: 5, repeatShare: 0.045 } };
    return await runTailedLoad(stage, { kind: 'store', access }, seconds, load, () => storedLogs(access.groups));
  },
  async without(stage) {
    const [group] = stage.access.groups;
    if (!group) throw new Error('a cluster without groups');
    const access: PlainAccess = { group, shards: CONTROL_SHARDS };
    await createPlainTables(access);
    const target = { kind: 'plain', access } as const;
    const load = { cells: { batchShare: 1, batchSize: 5, repeatShare: 0 } };
    const stored = () =>
      withClient([group], group.name, (client) =>
        Promise.all(Array.from({ length: CONTROL_SHARDS }, (_, shard) => storedLog(client, PLAIN, shard))),
      );
    return runTailedLoad(stage, target, CONTROL_SECONDS, load, stored);
  },
  judge(real, control) {
    const { due, readsFromWriter, readsFromReader, failures } = judgeReaders(real.readers, real.stored);
    return {
      checks: checks(real, control),
      cells: sumOf(real.stored.map(({ ids }) => ids.length)),
      notes: [
        outcomesLine(real.written.outcomes),
        `cells read: ${grouped(due)}; log reads: ${grouped(readsFromWriter)} from the writer, ${grouped(readsFromReader)} from a reader, ${failures} failed`,
        ...real.written.wrongExamples,
      ],
    };
  },
});

type TailedLoad = Awaited<ReturnType<typeof runTailedLoad>>;

/** Runs writers and log readers in parallel, half of the readers on the writer, half on a reader. */
async function runTailedLoad(
  stage: Stage,
  target: LogAccess,
  seconds: number,
  varied: Pick<StageLoad, 'cells'>,
  readStored: () => Promise<readonly StoredLog[]>,
) {
  const shards = target.kind === 'store' ? SHARDS : CONTROL_SHARDS;
  const roles = Array.from({ length: READERS / READER_THREADS }, (_, position): Role =>
    position % 2 === 0 ? 'writer' : 'reader',
  );
  const input: LogReaders = { log: target, shards, roles };
  const threads = Array.from({ length: READER_THREADS }, () =>
    stage.use(
      startWorker<LogReaders, LogEnds, never, readonly SeenLog[]>(new URL('log-readers.ts', import.meta.url), input),
    ),
  );
  await Promise.all(threads.map(({ ready }) => ready));
  const load = await stage.load({ target, writers: WRITERS, isolated: true, ...varied });
  for (let second = 0; second < seconds; second += 1) {
    await stage.wait(1000);
    if ((second + 1) % REPORT_SECONDS === 0) stage.say(`${grouped(load.acked)} cells`);
  }
  // On a busy machine little is written in that time.
  await load.untilAcked(LEAST_CELLS, LOAD_PATIENCE_MS);
  const { written } = await load.stop();
  const stored = await readStored();
  const ends: LogEnds = { heads: stored.map(({ ids }) => ids.at(-1) ?? 0), patienceMs: PATIENCE_MS };
  const readers = await Promise.all(threads.map((thread) => thread.stop(ends)));
  return { written, stored, readers: readers.flat() };
}

function checks({ written, stored, readers }: TailedLoad, control: TailedLoad): readonly Check[] {
  const verdict = judgeReaders(readers, stored);
  const plain = judgeReaders(control.readers, control.stored);
  const skippedShare = plain.skipped / Math.max(1, plain.due);
  const kept = compareKept(written.acked, stored);
  const [holes, plainHoles] = [holesIn(stored), holesIn(control.stored)];
  const backIn = (logs: readonly StoredLog[]): number => sumOf(logs.map((log) => log.timesBack));
  const [timesBack, plainTimesBack] = [verdict.timesBack + backIn(stored), backIn(control.stored)];
  return [
    {
      what: 'cells skipped, out of order, different',
      result: `${verdict.skipped}, ${verdict.outOfOrder}, ${verdict.different} of ${grouped(verdict.due)}`,
      bar: '0, 0, 0',
      passed:
        verdict.due > 0 &&
        verdict.readsFromReader > 0 &&
        verdict.skipped + verdict.outOfOrder + verdict.different + verdict.late === 0,
      control: { result: `${(100 * skippedShare).toFixed(1)} % skipped`, failed: skippedShare > 0.01 },
    },
    {
      what: 'ids missing between 1 and the last; acknowledged cells lost, moved; wrong answers',
      result: `${holes}; ${kept.lost}, ${kept.moved}; ${written.wrong}`,
      bar: '0; 0, 0; 0',
      passed: written.acked.length > 0 && holes + kept.lost + kept.moved + kept.doubled + written.wrong === 0,
      control: { result: `${grouped(plainHoles)} ids missing`, failed: plainHoles > 0 },
    },
    {
      what: 'times that go back',
      result: String(timesBack),
      bar: '0',
      passed: verdict.due > 0 && timesBack === 0,
      control: { result: grouped(plainTimesBack), failed: plainTimesBack > 0 },
    },
  ];
}
