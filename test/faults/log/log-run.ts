import { startCluster, type Cluster } from '../../support/cluster.ts';
import { grouped, sumOf, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine } from '../load/ledger.ts';
import { createPlainTables, PLAIN, type PlainAccess } from '../load/plain-tables.ts';
import { withClient } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { compareKept, holesIn, storedLog, storedLogs, type StoredLog } from '../stored-cells.ts';
import { judgeReaders, type ReaderVerdict } from './judge-readers.ts';
import { READERS, runTailedLoad, WRITERS, type TailedLoadResult } from './tailed-load.ts';

/** Few, so that writers meet in each. */
const SHARDS = 4;
/** One, where all writers meet: the rate of what a reader skips is the rate at which writers meet. */
const CONTROL_SHARDS = 1;
const SECONDS = 60;
const CONTROL_SECONDS = 10;
const BUSY_PROCESSES = 3;
/** One cell in ten is a repeat: of an earlier one, of one sent at the same moment, or within a batch of five. */
const MIX: Mix = { batchShare: 0.1, batchSize: 5, repeatShare: 0.045 };
const CONTROL_MIX: Mix = { batchShare: 1, batchSize: 5, repeatShare: 0 };

export const logRun: FaultRun = {
  name: 'log',
  promise: 'A shard is a log: dense, in commit order; a reader that goes on from where it stopped never skips a cell',
  fault: `${WRITERS} writers with 10 % repeated cells on ${SHARDS} shards, ${READERS} log readers on the writer and on a reader, CPU pressure`,
  control: 'a plain AUTO_INCREMENT table, plain inserts with 20 % repeats, readers that step over holes',

  async run(world) {
    const { folder, engine, say } = world;
    const group = { groups: 1, readers: 1, shards: SHARDS, bufferCopies: 0 };
    await using cluster = await startCluster({ folder, engine, ...group });
    const { access } = cluster;
    const real = await runTailedLoad({
      ...world,
      target: { kind: 'store', access },
      stored: () => storedLogs(access.groups),
      shards: SHARDS,
      mix: MIX,
      seconds: world.seconds ?? SECONDS,
      busyProcesses: BUSY_PROCESSES,
    });
    say(`the control: ${logRun.control}`);
    const control = await runControl(cluster, world);
    const verdict = judgeReaders(real.readers, real.stored);
    return {
      checks: checks(real, verdict, control),
      cells: sumOf(real.stored.map(({ ids }) => ids.length)),
      engine: cluster.engine,
      notes: [
        outcomesLine(real.written.outcomes),
        `log reads: ${grouped(verdict.readsFromWriter)} from the writer, ${grouped(verdict.readsFromReader)} from a reader, ${verdict.failures} failed`,
        `holes met: ${verdict.holesMet}, the longest for ${Math.ceil(verdict.longestHoleMs)} ms`,
        ...real.written.wrongExamples,
      ],
    };
  },
};

async function runControl(cluster: Cluster, world: RunWorld): Promise<TailedLoadResult> {
  const [group] = cluster.access.groups;
  if (!group) throw new Error('a cluster without groups');
  const access: PlainAccess = { group, shards: CONTROL_SHARDS };
  await createPlainTables(access);
  return await runTailedLoad({
    ...world,
    history: undefined,
    target: { kind: 'plain', access },
    stored: () => plainLogs(group),
    shards: CONTROL_SHARDS,
    mix: CONTROL_MIX,
    seconds: CONTROL_SECONDS,
    // Readers that come round quickly skip the most.
    busyProcesses: 0,
  });
}

async function plainLogs(group: GroupAccess): Promise<readonly StoredLog[]> {
  return withClient([group], group.name, (client) =>
    Promise.all(Array.from({ length: CONTROL_SHARDS }, (_, shard) => storedLog(client, PLAIN, shard))),
  );
}

function checks(real: TailedLoadResult, verdict: ReaderVerdict, control: TailedLoadResult): readonly Check[] {
  const plain = judgeReaders(control.readers, control.stored);
  const skippedShare = plain.skipped / Math.max(1, plain.due);
  const kept = compareKept(real.written.acked, real.stored);
  const [holes, plainHoles] = [holesIn(real.stored), holesIn(control.stored)];
  const backIn = (logs: readonly StoredLog[]): number => sumOf(logs.map((log) => log.timesBack));
  const [timesBack, plainTimesBack] = [verdict.timesBack + backIn(real.stored), backIn(control.stored)];
  return [
    {
      what: 'cells skipped, out of order, different',
      figure: `${verdict.skipped}, ${verdict.outOfOrder}, ${verdict.different} of ${grouped(verdict.due)}`,
      bar: '0, 0, 0',
      passed:
        verdict.due > 0 &&
        verdict.readsFromReader > 0 &&
        verdict.skipped + verdict.outOfOrder + verdict.different + verdict.late === 0,
      control: { figure: `${(100 * skippedShare).toFixed(1)} % skipped`, failed: skippedShare > 0.01 },
    },
    {
      what: 'ids missing between 1 and the last; acknowledged cells lost, moved; wrong answers',
      figure: `${holes}; ${kept.lost}, ${kept.moved}; ${real.written.wrong}`,
      bar: '0; 0, 0; 0',
      passed: real.written.acked.length > 0 && holes + kept.lost + kept.moved + kept.doubled + real.written.wrong === 0,
      control: { figure: `${grouped(plainHoles)} ids missing`, failed: plainHoles > 0 },
    },
    {
      what: 'times that go back',
      figure: String(timesBack),
      bar: '0',
      passed: verdict.due > 0 && timesBack === 0,
      control: { figure: grouped(plainTimesBack), failed: plainTimesBack > 0 },
    },
  ];
}
