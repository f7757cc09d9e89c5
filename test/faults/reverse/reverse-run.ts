import { digestLog } from '../../../infra/cli/log/digest-log.ts';
import type { Role } from '../../../shared/cell.ts';
import type { MoveOperations, MoveStatus } from '../../../shared/contract/move-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { readMove } from '../../../shared/moves/move-item.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { percentile } from '../../support/percentile.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { aftermathNotes, faultsLine, otherFaults, type Aftermath } from '../aftermath.ts';
import { grouped, noneOf, sumOf, type FaultRun, type RunWorld } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import type { MoverInput, MoverProgress } from '../moves/mover-process.ts';
import { Stage } from '../stage.ts';
import { storedLogs } from '../stored-cells.ts';

const SHARDS = 12;
/** Two of each group. */
const MOVED = [0, 1, 2, 3, 4, 5];
const WRITERS = 8;
const A_WRITER_PER_SECOND = 25;
const SECONDS = 600;
const CONTROL_SECONDS = 10;
const AFTER_MS = 5000;
/** To the new places. */
const LEAST_CELLS = 500;
const PATIENCE_MS = 120_000;

export const reverseRun: FaultRun = {
  name: 'reverse',
  promise: 'A shard that was moved goes back with everything that was written to its new place',
  fault: `${MOVED.length} shards are moved, written to for ${SECONDS / 60} minutes where they are then, and taken back, while ${WRITERS} writers go on`,
  control: 'a move that keeps nothing of what is written to the new place in what it left behind, and compares nothing',

  async run(world) {
    const real = await thereAndBack(world, 'reverse/real', { seconds: world.seconds ?? SECONDS, keeps: true });
    world.say(`the control: ${reverseRun.control}`);
    const control = await thereAndBack(world, 'reverse/control', { seconds: CONTROL_SECONDS, keeps: false });
    const wrongOf = ({ aftermath, unseen, timesBack }: Reversed) =>
      aftermath.lost + otherFaults(aftermath) + unseen + timesBack;
    return {
      checks: [
        noneOf(
          'cells lost, moved, doubled, holes, wrong answers, times that go back; not seen when looked at again',
          LEAST_CELLS,
          { wrong: wrongOf(real), of: real.aftermath.acked },
          { wrong: wrongOf(control), of: control.aftermath.acked },
        ),
        noneOf(
          'of the cells written to the new places, those in logs with another digest after it, on writer or reader',
          LEAST_CELLS,
          { wrong: real.differing, of: real.writtenThere },
          { wrong: control.differing, of: control.writtenThere },
        ),
      ],
      cells: real.aftermath.acked,
      engine: real.engine,
      notes: [
        `written to the new places: ${grouped(real.writtenThere)} cells in ${real.seconds} s`,
        `closed for the way back: p50 ${percentile(real.closedMs, 0.5).toFixed(0)}, most ${Math.max(...real.closedMs)} ms of ${real.closedMs.length}`,
        `copies begun anew: ${real.restarts}`,
        ...aftermathNotes(real.aftermath),
        `the control: ${grouped(control.aftermath.lost)} lost, ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

interface WayBack {
  /** So long the shards are written to in their new places. */
  readonly seconds: number;
  /** Whether what was left behind follows. */
  readonly keeps: boolean;
}

interface Reversed {
  readonly engine: string;
  readonly aftermath: Aftermath;
  /** Stored cells that were not as they were when somebody looked at them again. */
  readonly unseen: number;
  readonly seconds: number;
  /** Cells that the moved shards were given in their new places. */
  readonly writtenThere: number;
  /** Of these, those of shards whose logs were others when they were back. */
  readonly differing: number;
  readonly closedMs: readonly number[];
  /** Cells of all logs whose time is before that of the cell before. */
  readonly timesBack: number;
  readonly restarts: number;
}

/** A log as far as it went. */
interface Known {
  readonly shard: number;
  readonly at: number;
  readonly digest: string;
}

async function thereAndBack(world: RunWorld, name: string, { seconds, keeps }: WayBack): Promise<Reversed> {
  await using stage = await Stage.start(world, name, { shards: SHARDS });
  const store = await stage.open();
  await stage.drain({ looksForMore: true });
  const { context, topologyTable, stateTable } = store;
  const operations = await moveManagement({ context, topologyTable, stateTable }).moves(store.name);
  const load = await stage.load({
    writers: WRITERS,
    perSecond: A_WRITER_PER_SECOND,
    cells: NEW_CELLS,
    looksBack: true,
  });
  await moved(stage, operations);
  const before = await headsOf(store);
  world.say(`${MOVED.length} shards are on other groups, and are written to there for ${seconds} s`);
  using mover = startMover(stage, keeps);
  await mover.ready;
  await stage.wait(seconds * 1000);
  const there = await digestsOf(store);
  world.say('back');
  const statuses = await reversed(stage, operations);
  await stage.wait(AFTER_MS);
  const { written, samples } = await load.stop();
  const different = keeps ? await differingAfter(stage, store, operations, there) : await differing(store, there);
  await mover.stop();
  const writtenTo = ({ shard, at }: Known): number => at - (before.get(shard) ?? 0);
  const aftermath = await stage.inspect(written);
  return {
    engine: stage.engine,
    aftermath,
    unseen: samples.filter(({ seen }) => seen !== 'same').length,
    seconds,
    writtenThere: sumOf(there.map(writtenTo)),
    differing: sumOf(different.map(writtenTo)),
    closedMs: statuses.flatMap(({ closed_ms }) => closed_ms.slice(1)),
    timesBack: sumOf((await storedLogs(stage.access.groups)).map(({ timesBack }) => timesBack)),
    restarts: sumOf(statuses.map(({ restarts }) => restarts)),
  };
}

/** @param keeps whether what is copied is put into copies, and compared */
function startMover(stage: Stage, keeps: boolean): KillableProcess<MoverProgress> {
  const input: MoverInput = keeps
    ? { access: stage.access }
    : {
        access: stage.through(new URL('forgets-copies.ts', import.meta.url)),
        protections: { closes: true, compares: false },
      };
  return startProcess(new URL('../moves/mover-process.ts', import.meta.url), stage.cluster.folder, input);
}

/** Moves the shards, each to the next group. */
async function moved(stage: Stage, operations: MoveOperations): Promise<void> {
  using mover = startMover(stage, true);
  await mover.ready;
  for (const shard of MOVED) await operations.createMove(shard, stage.groupInTurn(shard + 1), { switch: true });
  await all(stage, operations, ({ switches, step }) => switches === 1 && step === 'following');
  await mover.stop();
}

async function reversed(stage: Stage, operations: MoveOperations): Promise<readonly MoveStatus[]> {
  for (const shard of MOVED) await operations.reverseMove(shard);
  return await all(stage, operations, ({ switches, step }) => switches === 2 && step === 'following');
}

/** Waits until each of the moves is so. Returns them as they are then. */
async function all(
  stage: Stage,
  operations: MoveOperations,
  isSo: (status: MoveStatus) => boolean,
): Promise<readonly MoveStatus[]> {
  let statuses: readonly MoveStatus[] = [];
  const look = async (): Promise<boolean> => {
    statuses = await Promise.all(MOVED.map((shard) => operations.move(shard)));
    return statuses.every(isSo);
  };
  await until('all moves come on', look, { patienceMs: PATIENCE_MS, pollMs: 50, signal: stage.world.signal });
  return statuses;
}

async function headsOf({ datastore }: OpenStore): Promise<ReadonlyMap<number, number>> {
  const heads = await datastore.heads();
  return new Map(heads.flatMap((one) => (one.error ? [] : [[one.shard, one.head]])));
}

/** The moved logs as they are now. */
async function digestsOf(store: OpenStore): Promise<readonly Known[]> {
  const heads = await headsOf(store);
  return Promise.all(
    MOVED.map(async (shard) => ({
      shard,
      ...(await digestLog(store.datastore, { shard, at: heads.get(shard) ?? 0 })),
    })),
  );
}

/** Those whose logs are not, up to there, what they were. */
async function differing({ datastore }: OpenStore, known: readonly Known[]): Promise<readonly Known[]> {
  const isSame = async ({ shard, at, digest }: Known, read: Role): Promise<boolean> => {
    try {
      const now = await digestLog(datastore, { shard, at, read });
      return now.at === at && now.digest === digest;
    } catch (error) {
      if (error instanceof SchemalessError) return false;
      throw error;
    }
  };
  const found = await Promise.all(
    known.map(async (one) => (await isSame(one, 'writer')) && (await isSame(one, 'reader'))),
  );
  return known.filter((_, position) => found[position] === false);
}

/** The same where they are back, what was left behind compared whole, and once it is dropped. */
async function differingAfter(
  stage: Stage,
  store: OpenStore,
  operations: MoveOperations,
  known: readonly Known[],
): Promise<readonly Known[]> {
  for (const shard of MOVED) await operations.verifyMove(shard);
  const isTold = async (shard: number): Promise<boolean> =>
    (await readMove(store.stateTable, { datastore: store.name, shard }))?.wish === null;
  await until('the moves compare', async () => (await Promise.all(MOVED.map(isTold))).every(Boolean), {
    patienceMs: PATIENCE_MS,
    signal: stage.world.signal,
  });
  const verified = await all(
    stage,
    operations,
    ({ step, compared, head }) => step === 'following' && compared === head,
  );
  stage.world.say(
    `compared from the first cell: ${verified.map(({ shard, compared }) => `${shard} up to ${compared}`).join(', ')}`,
  );
  const before = await differing(store, known);
  for (const shard of MOVED) await operations.completeMove(shard);
  await all(stage, operations, ({ step }) => step === 'completed');
  return [...new Set([...before, ...(await differing(store, known))])];
}
