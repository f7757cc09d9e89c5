import type { MoveStatus, MoveStep } from '../../../shared/api/moves.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { indexOn } from '../../support/index-on.ts';
import { percentile } from '../../support/percentile.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { aftermathNotes, faultsLine, wrongOf } from '../aftermath.ts';
import { check, grouped, noneOf, sumOf, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { compareTables, problemsText } from '../indexes/judge-indexes.ts';
import { startRepair } from '../indexes/race.ts';
import { RestartedProcess } from '../indexes/restarted-process.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { Stage } from '../stage.ts';
import { ackedCells, countUnreadable } from '../stored-cells.ts';
import type { MoverInput, MoverProgress } from './mover-process.ts';
import { isFollowing, MOVER, openMoves } from './moving.ts';
import type { Watched, WatchInput } from './watch-thread.ts';

const SHARDS = 24;
const WRITERS = 8;
const MOVES = 30;
const CONTROL_MOVES = 6;
const KNOWN = 1500;
const LEAST_CELLS = 5000;
const MOST_CLOSED_MS = 300;
const MOST_READ_MS = 50;
const UNDISTURBED = { what: 'undisturbed' };

export const movesRun: FaultRun = {
  name: 'moves',
  promise: 'A shard moves while everything runs: nothing is lost, doubled, reordered, refused or read wrongly',
  fault: `${MOVES} moves under ${WRITERS} writers, readers, index queries and a follower; the mover killed in every step and cancelled; both groups' writers killed during copy and switch`,
  control:
    'a switch without closing the shard; a copy without comparison; readers that do not check where a shard is; a switch that stands still',
  alone: true,

  async run(world) {
    const real = await moveUnderLoad(world, 'moves/real', { moves: MOVES, plans: PLANS });
    world.say(`the control: ${movesRun.control}`);
    const few = { moves: CONTROL_MOVES, plans: [UNDISTURBED] };
    const unclosed = await moveUnderLoad(world, 'moves/unclosed', {
      ...few,
      without: 'closing',
      asIs: true,
    });
    const uncompared = await moveUnderLoad(world, 'moves/uncompared', {
      moves: 1,
      plans: [{ what: 'planted', plants: true }],
      without: 'comparing',
    });
    const unwaiting = await moveUnderLoad(world, 'moves/unwaiting', { ...few, stallsMs: 1000 });
    const { aftermath, watched, closedMs, moves, restarts } = real;
    return {
      checks: [
        noneOf(
          'cells lost, moved, doubled or changed, writes refused; without closing',
          LEAST_CELLS,
          real.wrong,
          unclosed.wrong,
        ),
        noneOf('… without comparing, a difference planted in a copy', LEAST_CELLS, real.wrong, uncompared.wrong),
        watchedCheck(watched, unclosed.watched),
        stallCheck(real, unwaiting),
      ],
      cells: aftermath.acked,
      notes: [
        moves,
        `closed, without kills: p50 ${percentile(closedMs, 0.5).toFixed(0)} ms, p99 ${percentile(closedMs, 0.99).toFixed(0)} ms of ${closedMs.length} closings; reads: p50 ${percentile(watched.readMs, 0.5).toFixed(1)} ms, p99 ${percentile(watched.readMs, 0.99).toFixed(1)} ms (${MOST_READ_MS} wanted) of ${grouped(watched.reads)}`,
        `a copy restarted ${restarts} times, once because of a planted difference`,
        `the index in the end: ${real.entries}`,
        ...watched.examples,
        ...aftermathNotes(aftermath),
        `not closed: ${faultsLine(unclosed.aftermath)}`,
        `not compared: ${faultsLine(uncompared.aftermath)}`,
      ],
    };
  },
};

interface Plan {
  readonly what: string;
  /** The mover crashes at the nth statement of a step; a switch has some twenty. */
  readonly dies?: (turn: number) => { readonly step: MoveStep; readonly statement: number };
  readonly cancelsAt?: MoveStep;
  /** The group whose writer is killed, and at which step. */
  readonly kills?: { readonly whose: 'from' | 'to'; readonly at: MoveStep };
  readonly reverses?: boolean;
  readonly plants?: boolean;
}

const diesIn = (step: MoveStep, first: number, more: number): Plan => ({
  what: `the mover dies in ${step}`,
  dies: (turn) => ({ step, statement: first + more * turn }),
});

const PLANS: readonly Plan[] = [
  UNDISTURBED,
  diesIn('copying', 3, 7),
  diesIn('switching', 2, 6),
  diesIn('switching', 4, 6),
  diesIn('switching', 6, 6),
  { what: 'cancelled while it copies', cancelsAt: 'copying' },
  { what: 'cancelled while it follows', cancelsAt: 'following' },
  { what: 'the old writer dies while it copies', kills: { whose: 'from', at: 'copying' } },
  { what: 'the new writer dies while it copies', kills: { whose: 'to', at: 'copying' } },
  { what: 'the old writer dies in the switch', kills: { whose: 'from', at: 'switching' } },
  { what: 'the new writer dies in the switch', kills: { whose: 'to', at: 'switching' } },
  { what: 'reversed', reverses: true },
  diesIn('dropping', 2, 0),
  { what: 'a difference is planted', plants: true },
  { what: 'cancelled at once', cancelsAt: 'waiting' },
];

interface Moving extends Pick<MoverInput, 'stallsMs'> {
  /** The protection that the mover lacks. @default nothing */
  readonly without?: Parameters<Stage['without']>[0];
  readonly moves: number;
  readonly plans: readonly Plan[];
  /** Readers do not check where a shard is now. */
  readonly asIs?: boolean;
}

type Moved = Awaited<ReturnType<typeof moveUnderLoad>>;

async function moveUnderLoad(world: RunWorld, name: string, moving: Moving) {
  await using stage = await Stage.start(world, name, {
    shards: SHARDS,
    promotes: true,
    restartAfterSeconds: 1,
    indexes: [indexOn('by_city', { city: 'string' })],
  });
  const store = await stage.open();
  const known = await knownCells(store, new Random(world.seed, name, 0));
  await stage.drain({ checksForMore: true });
  using repair = await startRepair(stage, stage.access);
  const input: WatchInput = { access: stage.access, seed: world.seed, known, asIs: moving.asIs ?? false };
  using watch = startWorker<WatchInput, 'stop', never, Watched>(new URL('watch-thread.ts', import.meta.url), input);
  await watch.ready;
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS, checksBack: true });
  const done: { readonly plan: Plan; readonly status: MoveStatus }[] = [];
  for (let number = 0; number < moving.moves; number += 1) {
    const plan = moving.plans[number % moving.plans.length] as Plan;
    done.push({ plan, status: await moveOnce(stage, store, { plan, number, moving }) });
  }
  const { written, samples, answers } = await load.stop();
  const seen = await watch.stop('stop');
  const missed = samples.filter((sample) => sample.seen !== 'same').length;
  const aftermath = await stage.inspect(written);
  const entries = await entriesAtTheEnd(stage, store);
  await repair.stop();
  const steps = Object.entries(Object.groupBy(done, ({ status }) => status.step));
  const { wrong, of } = wrongOf(aftermath);
  const changed = await countUnreadable(store.datastore, ackedCells(known));
  return {
    aftermath,
    /** Includes refused writes, and cells written before that have changed. */
    wrong: { wrong: wrong + aftermath.outcomes.unavailable + changed, of: of + KNOWN },
    watched: { ...seen, reads: seen.reads + samples.length, wrong: seen.wrong + missed },
    // Without moves whose writer or mover is killed, which keeps the shard closed.
    closedMs: done.flatMap(({ plan, status }) => (plan.kills || plan.dies ? [] : status.closed_ms)),
    writeMs: answers.map(({ milliseconds }) => milliseconds),
    entries,
    moves: `moves: ${steps.map(([step, all]) => `${all?.length} ${step}`).join(', ')}; switches ${sumOf(done.map(({ status }) => status.switches))}`,
    restarts: sumOf(done.map(({ status }) => status.restarts)),
  };
}

async function knownCells({ datastore }: OpenStore, random: Random): Promise<WatchInput['known']> {
  const cells = Array.from({ length: KNOWN }, (_, number): NewCell => ({
    row_key: randomRowKey(random),
    column_name: 'KNOWN',
    ref_key: number,
    body: { known: number, note: 'k'.repeat(random.integer(0, 200)) },
  }));
  for (let from = 0; from < cells.length; from += 100) await datastore.batchPut(cells.slice(from, from + 100));
  return cells as [NewCell, ...NewCell[]];
}

async function moveOnce(
  stage: Stage,
  store: OpenStore,
  { plan, number, moving }: { readonly plan: Plan; readonly number: number; readonly moving: Moving },
): Promise<MoveStatus> {
  const shard = (number * 7) % SHARDS;
  const dies = plan.dies?.(Math.floor(number / moving.plans.length));
  const { without, stallsMs } = moving;
  using mover = new RestartedProcess<MoverInput, MoverProgress>(MOVER, stage.cluster.folder, (life) => ({
    access: without === undefined ? stage.access : stage.without(without),
    stallsMs,
    ...(life === 0 && { dies, plants: plan.plants }),
  }));
  await mover.ready;
  const moves = await openMoves(stage, store);
  const { operations } = moves;
  const from = (await store.context.topology.datastore(store.name))?.homes[shard]?.group ?? '';
  const others = stage.access.groups.map((group) => group.name).filter((group) => group !== from);
  const to = others[number % others.length] ?? '';
  stage.say(`move ${number + 1}: shard ${shard} from ${from} to ${to}: ${plan.what}`);
  const until = (isSo: (status: MoveStatus) => boolean) => moves.until([shard], isSo);
  const disturb = async (at: MoveStep): Promise<void> => {
    if (plan.kills?.at === at) {
      const isAt = ({ step, wanted }: MoveStatus): boolean =>
        step === at || (at === 'switching' && wanted === 'switch') || step === 'following';
      await until(isAt);
      stage.say(`  kill -9 of ${await stage.kill(plan.kills.whose === 'from' ? from : to)}`);
    }
    if (dies?.step === at) await revived(mover);
  };
  await operations.createMove({ shard, to });
  if (plan.cancelsAt !== undefined) {
    await until((status) => status.step === plan.cancelsAt || status.step === 'following');
    await operations.cancelMove({ shard });
  } else {
    await disturb('copying');
    await until(({ step }) => step === 'following');
    await operations.switchMove({ shard });
    await disturb('switching');
    await until(isFollowing(1));
    if (plan.reverses === true) {
      await stage.wait(3000);
      await operations.reverseMove({ shard });
      await until(isFollowing(2));
    }
    await operations.completeMove({ shard });
    await disturb('dropping');
  }
  const [ended] = await until(({ step }) => step === 'completed' || step === 'cancelled');
  await stage.untilAllRun();
  const died = mover.progress.find(({ lastError }) => lastError !== '');
  if (died) stage.say(`  stumbled: ${died.lastError.split('\n')[0]}`);
  await mover.stop();
  return ended as MoveStatus;
}

/** Waits until it dies by itself, if the step has so many statements; another one takes over. */
async function revived(mover: RestartedProcess<MoverInput, MoverProgress>): Promise<void> {
  const gaveUp = new Promise<'gave up'>((resolve) => {
    setTimeout(resolve, 10_000, 'gave up').unref();
  });
  if ((await Promise.race([mover.untilDead(), gaveUp])) !== 'gave up') await mover.start();
}

/** If a promoted writer lost its last entries, the repair compares the whole index. */
async function entriesAtTheEnd(stage: Stage, { context, name }: OpenStore): Promise<string> {
  const [catalogue] = await context.topology.indexes(name);
  const live = catalogue?.versions.find(({ state }) => state === 'live');
  if (!catalogue || !live) throw new Error('no index');
  const index = { name: catalogue.name, hash: live.hash, definition: live.definition };
  const compare = () => compareTables(stage.access.groups, name, SHARDS, index);
  let last = await compare();
  await stage.comes(async () => sumOf(Object.values((last = await compare()).problems)) === 0, { patienceMs: 60_000 });
  return `${problemsText(last.problems)} of ${grouped(last.wanted)}`;
}

function watchedCheck(watched: Watched, control: Watched): Check {
  const isClean = (of: Watched): boolean => of.wrong + of.refused + of.unfound + of.outOfOrder === 0;
  return check(
    {
      what: 'reads wrong, reads refused, rows not found by index, cells followed out of order; readers that read once',
      bar: `0, 0, 0, 0 of ${grouped(LEAST_CELLS)} reads`,
      result: ({ wrong, refused, unfound, outOfOrder, reads, queries }) =>
        `${wrong}, ${refused}, ${unfound}, ${outOfOrder} of ${grouped(reads)} reads, ${grouped(queries)} queries`,
      holds: (of) => isClean(of) && of.reads >= LEAST_CELLS,
      fails: (of) => !isClean(of),
    },
    watched,
    control,
  );
}

function stallCheck(real: Moved, control: Moved): Check {
  const results = ({ closedMs, writeMs }: Moved) => [closedMs, writeMs].map((all) => percentile(all, 0.99));
  return check(
    {
      what: 'ms that a shard is closed, that a writer waits, p99; a switch that stands still for a second',
      bar: `< ${MOST_CLOSED_MS}, < ${MOST_CLOSED_MS}`,
      result: (of: Moved) =>
        results(of)
          .map((ms) => ms.toFixed(0))
          .join(', '),
      holds: (of) => results(of).every((ms) => ms < MOST_CLOSED_MS),
    },
    real,
    control,
  );
}
