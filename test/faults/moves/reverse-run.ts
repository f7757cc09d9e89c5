import { digestLog } from '../../../infra/cli/log/digest-log.ts';
import type { Role } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { readMove } from '../../../shared/moves/move-item.ts';
import { percentile } from '../../support/percentile.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { wrongOf } from '../aftermath.ts';
import { grouped, noneOf, sumOf, type Share } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { storedLogs } from '../stored-cells.ts';
import { isFollowing, openMoves, startMover, type Moves } from './moving.ts';

/** Two of each group. */
const MOVED = [0, 1, 2, 3, 4, 5];
const WRITERS = 8;
const A_WRITER_PER_SECOND = 25;
const SECONDS = 600;
const CONTROL_SECONDS = 10;
const AFTER_MS = 5000;
/** To the new places. */
const LEAST_CELLS = 500;
const PATIENCE_MS = 600_000;

export const reverseRun = stagedRun({
  name: 'reverse',
  promise: 'A shard that was moved goes back with everything that was written to its new place',
  fault: `${MOVED.length} shards are moved, written to for ${SECONDS / 60} minutes where they are then, and taken back, while ${WRITERS} writers go on`,
  control: 'a move that keeps nothing of what is written to the new place in what it left behind, and compares nothing',
  servers: { shards: 12 },
  controlServers: {},
  real: (stage) => thereAndBack(stage, stage.world.seconds ?? SECONDS, true),
  without: (stage) => thereAndBack(stage, CONTROL_SECONDS, false),
  judge: (real, control) => ({
    checks: [
      noneOf(
        'cells lost, moved, doubled, holes, wrong answers, times that go back; not seen when looked at again',
        LEAST_CELLS,
        real.wrong,
        control.wrong,
      ),
      noneOf(
        'of the cells written to the new places, those in logs with another digest after it, on writer or reader',
        LEAST_CELLS,
        real.differing,
        control.differing,
      ),
    ],
    notes: [
      `written to the new places: ${grouped(real.differing.of)} cells in ${real.seconds} s`,
      `closed for the way back: p50 ${percentile(real.closedMs, 0.5).toFixed(0)}, most ${Math.max(...real.closedMs)} ms of ${real.closedMs.length}; copies begun anew: ${real.restarts}`,
    ],
  }),
});

interface Known {
  readonly shard: number;
  readonly at: number;
  readonly digest: string;
}

/** @param keeps whether what was left behind follows, and is compared */
async function thereAndBack(stage: Stage, seconds: number, keeps: boolean) {
  const store = await stage.open();
  await stage.drain({ looksForMore: true });
  const moves = await openMoves(stage, store);
  const pace = { writers: WRITERS, perSecond: A_WRITER_PER_SECOND };
  const load = await stage.load({ ...pace, cells: NEW_CELLS, looksBack: true });
  await moveAll(stage, moves);
  const before = await headsOf(store);
  stage.say(`${MOVED.length} shards are on other groups, and are written to there for ${seconds} s`);
  using mover = await startMover(stage, keeps ? {} : { access: stage.without('copying') });
  await stage.wait(seconds * 1000);
  const there = await digestsOf(store);
  stage.say('back');
  for (const shard of MOVED) await moves.operations.reverseMove({ shard });
  const statuses = await moves.until(MOVED, isFollowing(2));
  await stage.wait(AFTER_MS);
  const { written, samples } = await load.stop();
  const different = keeps ? await differingAfter(stage, store, moves, there) : await differing(store, there);
  await mover.stop();
  const aftermath = await stage.inspect(written);
  const { wrong, of } = wrongOf(aftermath);
  const timesBack = sumOf((await storedLogs(stage.access.groups)).map((log) => log.timesBack));
  const writtenTo = (logs: readonly Known[]): number =>
    sumOf(logs.map(({ shard, at }) => at - (before.get(shard) ?? 0)));
  return {
    seconds,
    aftermath,
    /** Stored cells that were not as they were when a writer looked at them again count, too. */
    wrong: { wrong: wrong + timesBack + samples.filter(({ seen }) => seen !== 'same').length, of } satisfies Share,
    /** Of the cells that the moved shards were given in their new places. */
    differing: { wrong: writtenTo(different), of: writtenTo(there) } satisfies Share,
    closedMs: statuses.flatMap(({ closed_ms }) => closed_ms.slice(1)),
    restarts: sumOf(statuses.map(({ restarts }) => restarts)),
  };
}

async function moveAll(stage: Stage, moves: Moves): Promise<void> {
  using mover = await startMover(stage);
  for (const shard of MOVED)
    await moves.operations.createMove({ shard, to: stage.groupInTurn(shard + 1), switch: true });
  await moves.until(MOVED, isFollowing(1));
  await mover.stop();
}

async function headsOf({ datastore }: OpenStore): Promise<ReadonlyMap<number, number>> {
  return new Map((await datastore.heads()).flatMap((one) => (one.error ? [] : [[one.shard, one.head]])));
}

async function digestsOf(store: OpenStore): Promise<readonly Known[]> {
  const heads = await headsOf(store);
  const digestOf = async (shard: number): Promise<Known> => ({
    shard,
    ...(await digestLog(store.datastore, { shard, at: heads.get(shard) ?? 0 })),
  });
  return Promise.all(MOVED.map(digestOf));
}

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
  const same = await Promise.all(
    known.map(async (one) => (await isSame(one, 'writer')) && (await isSame(one, 'reader'))),
  );
  return known.filter((_, position) => same[position] === false);
}

/** The same where they are back, what was left behind compared whole, and once it is dropped. */
async function differingAfter(
  stage: Stage,
  store: OpenStore,
  moves: Moves,
  known: readonly Known[],
): Promise<readonly Known[]> {
  for (const shard of MOVED) await moves.operations.verifyMove({ shard });
  const isTold = async (shard: number): Promise<boolean> =>
    (await readMove(store.stateTable, { datastore: store.name, shard }))?.wish === null;
  await until('the moves compare', async () => (await Promise.all(MOVED.map(isTold))).every(Boolean), {
    patienceMs: PATIENCE_MS,
    signal: stage.world.signal,
  });
  const verified = await moves.until(MOVED, ({ step, compared, head }) => step === 'following' && compared === head);
  stage.say(
    `compared from the first cell: ${verified.map(({ shard, compared }) => `${shard} up to ${compared}`).join(', ')}`,
  );
  const before = await differing(store, known);
  for (const shard of MOVED) await moves.operations.completeMove({ shard });
  await moves.until(MOVED, ({ step }) => step === 'completed');
  return [...new Set([...before, ...(await differing(store, known))])];
}
