import { moveManagement } from '../../../shared/moves/move-management.ts';
import { planMoves, placedShards, rebalance } from '../../../shared/moves/rebalance.ts';
import { logReads } from '../../../shared/store/read-log.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { fill } from '../../support/fill.ts';
import { onEachGroup, ownedShards, rowsOf } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { DATASTORE, PATIENT, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { faultsLine, otherFaults, type Aftermath } from '../aftermath.ts';
import { check, grouped, sumOf, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import type { MoverInput, MoverProgress } from '../moves/mover-process.ts';
import { baseCell } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import type { CommitLinesInput, CommitLinesProgress } from './commit-lines-thread.ts';
import { furthest, grownOf, type HeldByGroup } from './judge-growth.ts';

const SHARDS = 24;
const FILLED = 300_000;
/** The number of groups in each stage. */
const STAGES = [3, 4, 6] as const;
/** A group commits at most 200 times a second; a put takes two commits, its copy and its append. */
const COMMIT_MS = 5;
/** Each is an instance of its own with one put under way, so that no two appends share a commit. */
const CALLERS = 128;
const THREADS = 2;
const WARM_UP_MS = 6000;
/** If the busiest group commits less often than this part of its limit, the machine is the limit: measured again. */
const BUSY = 0.97;
const TRIES = 4;
const MEASURED_SECONDS = 20;
/** Puts a second for each group while shards are moved, of the 100 that each sustains. */
const WHILE_MOVED_A_GROUP = 40;
const MOST_OFF = 0.05;
const LEAST_GROWN = 0.9;
const POLL_MS = 200;

export const growthRun: FaultRun = {
  name: 'growth',
  promise: 'Added groups hold their part of the shards and bytes, and take their part of the writes',
  fault: `${STAGES.join(' → ')} groups with ${grouped(FILLED)} cells and more under load; each commit of a group takes ${COMMIT_MS} ms, one after the other`,
  control: 'the same groups before a shard is moved to them',
  alone: true,

  async run(world) {
    const { found, aftermath, engine, notes } = await grow(world);
    const [first, ...later] = found as readonly [Found, ...Found[]];
    if (aftermath.lost + otherFaults(aftermath) + aftermath.outcomes.unavailable > 0)
      throw new Error(`${aftermath.lost} cells lost, ${faultsLine(aftermath)}, ${notes.join('; ')}`);
    return {
      checks: later.flatMap((one) => [sharesCheck(one), growthCheck(first, one)]),
      cells: FILLED + aftermath.acked,
      engine,
      notes: [
        ...found.map(foundLine),
        ...notes,
        `written meanwhile: ${grouped(aftermath.acked)}, 0 lost; ${faultsLine(aftermath)}`,
      ],
    };
  },
};

/** The results with this many groups. */
interface Found {
  readonly groups: number;
  readonly moved: Measured;
  /** Measured before shards move to the added groups; the same as `moved` for the first groups. */
  readonly unmoved: Measured;
}

interface Measured {
  readonly held: readonly HeldByGroup[];
  /** Puts answered `stored` a second. */
  readonly rate: number;
  /** Commits a second of each group. */
  readonly commits: readonly number[];
}

function sharesCheck({ groups, moved, unmoved }: Found): Check {
  const off = ({ held }: Measured): readonly number[] => [furthest(held, 'shards'), furthest(held, 'bytes')];
  return check(
    {
      what: `${groups} groups: the furthest from its part of the shards, and of the bytes`,
      bar: `at most ${percent(MOST_OFF)}, ${percent(MOST_OFF)}`,
      result: (of: Measured) => off(of).map(percent).join(', '),
      holds: (of) => off(of).every((one) => one <= MOST_OFF),
    },
    moved,
    unmoved,
  );
}

function growthCheck(first: Found, { groups, moved, unmoved }: Found): Check {
  const grown = ({ rate }: Measured): number =>
    grownOf(first.moved.rate, rate, { before: first.groups, after: groups });
  return check(
    {
      what: `${groups} groups: what the rate has grown by, of what was added to ${first.groups}`,
      bar: `at least ${LEAST_GROWN}`,
      result: (of: Measured) => `${grown(of).toFixed(2)} (${of.rate.toFixed(0)} a second)`,
      holds: (of) => grown(of) >= LEAST_GROWN,
    },
    moved,
    unmoved,
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function foundLine({ groups, moved, unmoved }: Found): string {
  const line = ({ held, rate, commits }: Measured): string =>
    `${rate.toFixed(0)} puts a second, commits ${commits.map((one) => one.toFixed(0)).join(' ')}, shards ${held.map(({ shards }) => shards).join(' ')}`;
  return `${groups} groups: ${line(moved)}${moved === unmoved ? '' : `; before: ${line(unmoved)}`}`;
}

interface Grown {
  readonly engine: string;
  readonly found: readonly Found[];
  readonly aftermath: Aftermath;
  readonly notes: readonly string[];
}

async function grow(world: RunWorld): Promise<Grown> {
  await using stage = await Stage.start(world, 'growth', {
    shards: SHARDS,
    groups: STAGES[2],
    groupsAtFirst: STAGES[0],
    // One server a group, so that the machine's cores are not the limit.
    readers: 0,
  });
  const { say } = world;
  await filled(stage);
  say(`${grouped(FILLED)} cells are there; each commit takes ${COMMIT_MS} ms from now on`);
  const lines = stage.use(
    startWorker<CommitLinesInput, 'stop', CommitLinesProgress, null>(
      new URL('commit-lines-thread.ts', import.meta.url),
      {
        writers: stage.access.groups.map(({ writer }) => writer),
        eachMs: COMMIT_MS,
      },
    ),
  );
  await lines.ready;
  const access = behind(stage.access, lines.progress as CommitLinesProgress);
  const growing: Growing = { stage, access, commits: () => lines.progress?.commits ?? [], written: [] };
  await stage.drain({ access, checksForMore: true });
  const atFirst = await measured(growing, STAGES[0]);
  const found: Found[] = [{ groups: STAGES[0], moved: atFirst, unmoved: atFirst }];
  const notes: string[] = [];
  for (const groups of STAGES.slice(1)) {
    await stage.cluster.grow(groups);
    const unmoved = await measured(growing, groups);
    notes.push(await rebalanced(growing, groups));
    found.push({ groups, unmoved, moved: await measured(growing, groups) });
  }
  const aftermath = await stage.inspect(allWritten(growing.written));
  const cells = sumOf(
    await onEachGroup(stage.access.groups, async (client) =>
      sumOf((await heldBy(client)).map(({ cells: all }) => all)),
    ),
  );
  if (cells !== FILLED + aftermath.acked)
    throw new Error(`wanted ${FILLED} cells and ${aftermath.acked} in all logs, got ${cells}`);
  return { engine: stage.engine, found, aftermath, notes };
}

interface Growing {
  readonly stage: Stage;
  /** Leads through the forwarders. */
  readonly access: StoreAccess;
  /** The commits of each group so far. */
  readonly commits: () => readonly number[];
  /** The acknowledged writes so far. */
  readonly written: Written[];
}

/** Returns the same groups, behind their forwarders. */
function behind(access: StoreAccess, { addresses }: CommitLinesProgress): StoreAccess {
  return {
    ...access,
    groups: access.groups.map((group, position) => {
      const at = addresses[position] ?? group.writer;
      return { ...group, writer: at, reader: at, nodes: [at] };
    }),
  };
}

async function filled(stage: Stage): Promise<void> {
  const { context, name } = await stage.open();
  const topology = await context.topology.datastore(name);
  if (!topology) throw new Error(`no datastore ${name}`);
  const cells = (function* () {
    const random = new Random(stage.world.seed, 'filled', 0);
    for (let number = 0; number < FILLED; number += 1)
      yield baseCell(randomRowKey(random), { number, note: 'n'.repeat(random.integer(100, 500)) });
  })();
  await fill({ groups: stage.access.groups, topology, cells, signal: stage.world.signal });
}

/** Measures the rate that groups sustain: the try with the busiest groups, since others use the machine as well. */
async function measured(growing: Growing, groups: number): Promise<Measured> {
  const busy = ({ commits }: Measured): number => Math.max(...commits) / (1000 / COMMIT_MS);
  let best = await measuredOnce(growing, groups);
  for (let tries = 1; tries < TRIES && busy(best) < BUSY; tries += 1) {
    growing.stage.world.say('the machine is the limit, not the groups: measuring again');
    const next = await measuredOnce(growing, groups);
    if (busy(next) > busy(best)) best = next;
  }
  return best;
}

/** Measures the rate of callers who wait for their answers. */
async function measuredOnce({ stage, access, commits, written }: Growing, groups: number): Promise<Measured> {
  const load = await stage.load({
    access,
    writers: CALLERS,
    threads: THREADS,
    isolated: true,
    cells: NEW_CELLS,
    seed: `${stage.world.seed} ${written.length}`,
  });
  await stage.wait(WARM_UP_MS);
  const [from, before] = [Date.now(), commits()];
  await stage.wait(MEASURED_SECONDS * 1000);
  const [to, after] = [Date.now(), commits()];
  const loaded = await load.stop();
  written.push(loaded.written);
  const stored = loaded.answers.filter(({ outcome, ended }) => outcome === 'stored' && ended >= from && ended < to);
  const seconds = (to - from) / 1000;
  const one: Measured = {
    held: await held(stage, groups),
    rate: stored.length / seconds,
    commits: after.slice(0, groups).map((count, group) => (count - (before[group] ?? 0)) / seconds),
  };
  stage.world.say(foundLine({ groups, moved: one, unmoved: one }));
  return one;
}

/** Moves shards to the added groups, as `schemaless rebalance` does, under load. Returns a line about it. */
async function rebalanced({ stage, access, written }: Growing, groups: number): Promise<string> {
  await using parts = new AsyncDisposableStack();
  const load = await stage.load({
    access,
    writers: 8,
    perSecond: (WHILE_MOVED_A_GROUP * STAGES[0]) / 8,
    cells: NEW_CELLS,
    seed: `${stage.world.seed} ${written.length}`,
  });
  const mover = parts.use(
    startProcess<MoverInput, MoverProgress>(
      new URL('../moves/mover-process.ts', import.meta.url),
      stage.cluster.folder,
      { access },
    ),
  );
  await mover.ready;
  const { context, topologyTable, stateTable, name } = await stage.open({ ...access, sql: PATIENT });
  context.topology.refresh();
  const operations = await moveManagement({ topology: context.topology, topologyTable, stateTable }).moves(name);
  const names = await context.groups.names();
  if (names.length !== groups) throw new Error(`wanted ${groups} groups in the plan, got ${names.join(', ')}`);
  const plan = planMoves(await placedShards(operations, await logReads(context, name, SHARDS).heads()), names);
  const since = performance.now();
  const report = await rebalance(operations, plan, {
    completeAfterSeconds: 0,
    pollMs: POLL_MS,
    signal: stage.world.signal,
  });
  const seconds = (performance.now() - since) / 1000;
  if (!report.complete || report.not_moved.length > 0) throw new Error(`not moved: ${JSON.stringify(report)}`);
  await stage.comes(async () => (await operations.listMoves()).moves.length === 0, { patienceMs: 60_000 });
  await mover.stop();
  written.push((await load.stop()).written);
  const line = `${groups} groups: ${plan.length} shards moved in ${seconds.toFixed(0)} s, under ${WHILE_MOVED_A_GROUP * STAGES[0]} puts a second`;
  stage.world.say(line);
  return line;
}

/** Reads what lies on the groups with plain SQL. */
async function held(stage: Stage, groups: number): Promise<readonly HeldByGroup[]> {
  return onEachGroup(stage.access.groups.slice(0, groups), async (client, group) => {
    const shards = await heldBy(client);
    return { group, shards: shards.length, bytes: sumOf(shards.map(({ bytes }) => bytes)) };
  });
}

async function heldBy(client: Parameters<typeof rowsOf>[0]) {
  return Promise.all(
    (await ownedShards(client)).map(async (shard) => {
      const sql = `SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM ${entityTable(DATASTORE, shard)}`;
      const [[cells, bytes] = []] = await rowsOf(client, sql);
      return { cells: toNumber(cells), bytes: toNumber(bytes) };
    }),
  );
}
