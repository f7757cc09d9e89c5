import { cpus } from 'node:os';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { DrainSettings } from '../../../shared/drain/drain-lane.ts';
import { Random } from '../../support/random.ts';
import { lossCheck } from '../aftermath.ts';
import { check, grouped, shareResult, sumOf, type Check, type Share } from '../fault-run.ts';
import { begunIn, latencyLine, p99, type Phase } from '../load/latency.ts';
import { allWritten, Ledger, noOutcomes } from '../load/ledger.ts';
import { bearableLoad } from '../load/paced.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import {
  addToBacklog,
  comesToDrained,
  countRows,
  openBufferTables,
  tryPuts,
  type BufferTables,
} from './buffer-tables.ts';
import { loseHintHolders } from './lost-hint-holders.ts';

const DOWN = 'group-1';
const OUTAGE_SECONDS = 60;
const NORMAL_SECONDS = 30;
/** Put into the buffer early, some four times those of the steady load: the drain needs work for some time. */
const BACKLOG_ROWS = 10_000;
const PUTS = 300;
/** The time until the control's drain takes the expired leases of the one before it. */
const LEASES_SECONDS = 11;
/** Large pages without a pause between them. */
const HURRIED: DrainSettings = { appendsPerSecond: 1_000_000_000, pageRows: 1000 };
/** Twice the bar of a whole outage: a longer one has failed. */
const PATIENCE_MS = 240_000;
/** At once, the tables would still be busy with the first rows. */
const AT_FIRST_MS = 250;
const LEAST_ACCEPTED = 0.999;
const MOST_SLOWER = 2;
const LEAST_CELLS = 10_000;

export const outageRun = stagedRun({
  name: 'outage',
  promise: 'Writes continue while a primary is down, are drained once it is back, and its own writes come first',
  fault: `a group's writer down for ${OUTAGE_SECONDS} s under a steady load; the groups with copies killed`,
  control: 'no buffer; a drain without throttle; a single copy, whose group dies while the primary is down',
  alone: true,
  servers: { shards: 48 },
  async real(stage) {
    const { seed, seconds = OUTAGE_SECONDS } = stage.world;
    const tables = stage.use(openBufferTables(stage.access.groups));
    const { datastore } = await stage.open({ sql: {} });
    const shards = await shardsOf(datastore, DOWN);
    const drain = await stage.drain();
    const load = await bearableLoad(stage);
    const [from, busyShare] = [Date.now(), startBusyShare()];
    await stage.wait((NORMAL_SECONDS * 1000 * seconds) / OUTAGE_SECONDS);
    const [normal, busy] = [{ from, to: Date.now() }, busyShare()];
    stage.say(`normal times: ${load.perSecond} puts a second, the machine is ${(busy * 100).toFixed(0)} % busy`);
    const ledger = new Ledger();
    const writes = { datastore, shards, seed, ledger };
    let unbuffered = noOutcomes();
    const rows = (BACKLOG_ROWS * seconds) / OUTAGE_SECONDS;
    const outage = await takeDown(stage, tables, { ...writes, leastSeconds: seconds, rows }, async () => {
      const access = { ...stage.access, bufferCopies: 0 };
      unbuffered = await tryPuts({ access, shards, puts: PUTS, random: new Random(seed, 'refused', 0) });
    });
    return { tables, drain, load, normal, busy, writes, unbuffered, outage, seconds };
  },
  /** A second outage of the same writer under the same load, with a fast drain; then the copies are lost. */
  async without(stage, { tables, drain, load, writes, outage }) {
    const more = { ...writes, leastSeconds: LEASES_SECONDS, rows: outage.backlog };
    const hurried = await takeDown(stage, tables, more, async () => {
      drain[Symbol.dispose]();
      await stage.drain({ settings: HURRIED });
    });
    const { written, answers } = await load.stop();
    const aftermath = await stage.inspect(allWritten([written, load.before, writes.ledger.written()]));
    return { hurried, answers, aftermath, holders: await loseHintHolders(stage.world) };
  },
  judge(real, { hurried, answers, aftermath, holders }) {
    const { outage, unbuffered, normal, seconds } = real;
    const { shards } = real.writes;
    const during = (phase: Phase) => begunIn(answers, phase, shards);
    const missing = check(
      {
        what: 'missing when all groups with copies die; control: the primary is down as well',
        bar: '0',
        result: shareResult,
        holds: ({ wrong }) => wrong === 0,
        fails: ({ wrong }) => wrong > 0,
      },
      holders.primaryUp,
      holders.primaryDown,
    );
    const lost = 'acknowledged cells lost, other faults; control: a single copy';
    const refused = during(outage.down).filter(({ outcome }) => outcome === 'unavailable' || outcome === 'conflict');
    const base = p99(during(normal));
    const slower = ({ drained }: Outage): number => p99(during(drained)) / base;
    return {
      checks: [
        acceptedCheck(
          { wrong: refused.length, of: during(outage.down).length },
          { wrong: unbuffered.unavailable, of: sumOf(Object.values(unbuffered)) },
        ),
        drainedCheck(outage, 2 * seconds),
        check(
          {
            what: "p99 of the primary's own writes while drained, in normal ones; control: no throttle",
            bar: `< ${MOST_SLOWER}`,
            result: (times) => times.toFixed(2),
            holds: (times) => times < MOST_SLOWER,
            fails: (times) => times >= MOST_SLOWER,
          },
          slower(outage),
          slower(hurried),
        ),
        { ...lossCheck(lost, aftermath, aftermath, LEAST_CELLS), control: missing.control },
        missing,
      ],
      notes: [
        `writes to the group in normal times, with the machine ${(real.busy * 100).toFixed(0)} % busy: ${latencyLine(during(normal))}`,
        `… while it was down: ${latencyLine(during(outage.down))}`,
        `… while ${grouped(outage.backlog)} rows were drained: ${latencyLine(during(outage.drained))}`,
        `… while a drain that hurried drained ${grouped(hurried.backlog)}: ${latencyLine(during(hurried.drained))}`,
      ],
    };
  },
});

function acceptedCheck(real: Share, control: Share): Check {
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  const shareOf = ({ wrong, of }: Share): number => 1 - wrong / of;
  return check(
    {
      what: 'writes accepted while their primary is down; control: no buffer',
      bar: `>= ${percent(LEAST_ACCEPTED)}`,
      result: (share) => `${percent(shareOf(share))} of ${grouped(share.of)}`,
      holds: (share) => share.of > 0 && shareOf(share) >= LEAST_ACCEPTED,
      fails: (share) => shareOf(share) < LEAST_ACCEPTED,
    },
    real,
    control,
  );
}

/** The control asks the same with the primary still down. */
function drainedCheck({ drained, backlog, left, parked }: Outage, mostSeconds: number): Check {
  const seconds = (drained.to - drained.from) / 1000;
  return {
    what: 'seconds until the buffer is empty; rows left, parked; control: the primary still down',
    result: `${seconds.toFixed(1)}; ${left}, ${parked}`,
    bar: `< ${mostSeconds}; 0, 0`,
    passed: seconds < mostSeconds && left + parked === 0,
    control: { result: `${grouped(backlog)} left`, failed: backlog > 0 },
  };
}

interface Going {
  readonly datastore: Pick<Datastore, 'put' | 'batchPut' | 'shards'>;
  readonly shards: ReadonlySet<number>;
  readonly seed: string;
  readonly ledger: Ledger;
  readonly leastSeconds: number;
  readonly rows: number;
}

/** One outage of a group's writer; times in milliseconds since 1970. */
interface Outage {
  /** Until the writer accepts writes again. */
  readonly down: Phase;
  /** From then until all rows buffered before are drained. */
  readonly drained: Phase;
  readonly backlog: number;
  /** Those of the rows that were buffered before the writer accepted writes again. */
  readonly left: number;
  readonly parked: number;
}

/** Kills a writer (kill -9), which stays down while rows are added; then waits for the drain. */
async function takeDown(
  stage: Stage,
  tables: BufferTables,
  { leastSeconds, rows, ...writes }: Going,
  meanwhile: () => Promise<void>,
): Promise<Outage> {
  const { say } = stage;
  const { signal } = stage.world;
  const others = tables.groups.filter((name) => name !== DOWN);
  const downAt = Date.now();
  const node = await stage.kill(DOWN);
  say(`kill -9 of ${node}, which stays down`);
  const ended = stage.wait(leastSeconds * 1000);
  await meanwhile();
  const isEnough = async (): Promise<boolean> => (await countRows(tables, others)) >= rows;
  await addToBacklog({ ...writes, seed: `${writes.seed} ${rows}`, signal }, isEnough);
  await ended;
  const backlog = await countRows(tables, others);
  const downSeconds = (Date.now() - downAt) / 1000;
  await stage.servers.restart(node);
  await stage.untilAllRun();
  const backAt = Date.now();
  say(`${node} is back after ${downSeconds.toFixed(0)} s, with ${grouped(backlog)} rows in the buffer`);
  await stage.wait(AT_FIRST_MS);
  const isDrained = await comesToDrained(stage, tables, { before: backAt, patienceMs: PATIENCE_MS });
  const drained = { from: backAt, to: Date.now() };
  say(`nothing of them waits any more after ${((drained.to - backAt) / 1000).toFixed(1)} s`);
  const [left, parked] = [isDrained ? 0 : await countRows(tables, others), await countRows(tables, others, 'parked')];
  return { down: { from: downAt, to: backAt }, drained, backlog, left, parked };
}

/** Begins to measure how busy the machine is. The result returns the share, 0 to 1, since then. */
function startBusyShare(): () => number {
  const times = () => {
    const each = cpus().map((cpu) => cpu.times);
    const all = sumOf(each.flatMap((of) => Object.values(of)));
    return { all, idle: sumOf(each.map(({ idle }) => idle)) };
  };
  const before = times();
  return () => {
    const after = times();
    return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
  };
}
