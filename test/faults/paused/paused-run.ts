import { nodeOf } from '../../support/nodes.ts';
import { grouped, type Check, type FaultRun } from '../fault-run.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { judgeAnswers, type Judged } from '../acks/judge-answers.ts';
import { untrueCheck } from '../acks/told-truth.ts';
import { dropUniqueKeys, REPEATS_APPENDS } from '../acks/repeats-appends.ts';
import { aftermathNotes, type Aftermath } from '../aftermath.ts';
import { seconds, waitedIn, waitsLine, type Phase, type Waited, type Waits } from '../load/latency.ts';
import type { Loaded, Opening } from '../load/load-thread.ts';
import { shardsOf } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { compareKept, readCellsThere, storedLogs } from '../stored-cells.ts';
import { STEADY, WARM_UP_MS } from '../load/paced.ts';

const SHARDS = 48;
const PAUSED = 'group-1';
const WRITERS = 16;
const PER_SECOND = 5;
const CONTROL_PER_SECOND = 4;
const PEACE_MS = 4000;
/** Writes that began so shortly before the stop may meet it. */
const UNDER_WAY_MS = 500;
const PAUSE_SECONDS = 20;
/** A time limit of four seconds has to pass before anybody knows. */
const TRIPPED_MS = 5000;
/** For what was sent before to land, and for writes in peace. */
const AFTER_MS = 5000;
/** Longer than the server is paused: nothing ends by itself. */
const NO_LIMIT_MS = 60_000;
const NO_LIMITS = { queryTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: NO_LIMIT_MS, acquireTimeoutMs: NO_LIMIT_MS };
const MOST_MS = 1000;
/** Of the writes: one that is refused at once does not wait. */
const MOST_REFUSED = 0.01;
const CONTROL_LEAST_MS = 10_000;
/** Of the writes to a paused group, and of the others, each. */
const LEAST_WRITES = 300;
const LEAST_CELLS = 2000;

export const pausedRun: FaultRun = {
  name: 'paused',
  promise: 'A database that hangs holds nobody up, and what it does late does no harm',
  fault: `SIGSTOP of a group's writer for ${PAUSE_SECONDS} s, under ${WRITERS} writers to all groups`,
  control: 'no circuit breakers, no time limits; tables without unique key',
  alone: true,

  async run(world) {
    await using stage = await Stage.start(world, 'paused', { shards: SHARDS });
    const shards = await shardsOf((await stage.open()).datastore, PAUSED);
    await stage.drain();
    const real = await pauseUnderLoad(stage, shards);
    const { aftermath, judged, waited } = real;
    const control = await withoutProtections(stage, shards);
    const { unguarded, unlimited } = control;
    return {
      checks: [
        promptly('seconds (p99) that writes to the paused group waited', waited.own, unguarded.own, unlimited.own),
        promptly('seconds (p99) that all other writes waited', waited.others, unguarded.others, unlimited.others),
        {
          ...untrueCheck({ aftermath, untrue: judged.untrue }, LEAST_CELLS),
          control: { figure: `${grouped(control.doubled)} doubled`, failed: control.doubled > 0 },
        },
      ],
      cells: aftermath.acked,
      engine: stage.engine,
      notes: [
        `in peace: ${waitedLine(real.inPeace)}`,
        `from 5 s after the stop: ${waitedLine(waited)}`,
        `… without circuit breakers: ${waitedLine(unguarded)}`,
        `… without time limits, too: ${waitedLine(unlimited)}`,
        `circuits opened: ${real.openings.map(({ circuit, at }) => `${circuit} at ${seconds(at)} s`).join(', ')}`,
        ...aftermathNotes(aftermath),
        ...judged.examples,
      ],
    };
  },
};

interface Paused {
  readonly waited: Waited;
  /** Before the pause. */
  readonly inPeace: Waited;
  /** When circuits opened, in milliseconds since the writer was paused. */
  readonly openings: readonly Opening[];
  readonly aftermath: Aftermath;
  readonly judged: Judged;
}

async function pauseUnderLoad(stage: Stage, shards: ReadonlySet<number>): Promise<Paused> {
  const load = await stage.load({ ...STEADY, writers: WRITERS, perSecond: PER_SECOND });
  const { from, to } = await pause(stage);
  const { written, answers, openings } = await load.stop();
  return {
    waited: waitedIn(answers, { from: from + TRIPPED_MS, to }, shards),
    inPeace: waitedIn(answers, { from: from - PEACE_MS, to: from - UNDER_WAY_MS }, shards),
    openings: openings.map(({ circuit, at }) => ({ circuit, at: at - from })),
    aftermath: await stage.inspect(written),
    judged: judgeAnswers(answers, await readCellsThere(stage.access.groups)),
  };
}

/** The same once more, without circuit breakers, and without time limits, too, on tables without unique keys. */
async function withoutProtections(stage: Stage, shards: ReadonlySet<number>) {
  const { groups } = stage.access;
  stage.world.say('the controls: without circuit breakers; without time limits, too; tables without unique keys');
  await dropUniqueKeys(groups);
  const start = (name: string, varied: Partial<StoreAccess>) =>
    stage.load({
      ...STEADY,
      writers: WRITERS,
      perSecond: CONTROL_PER_SECOND,
      access: { ...stage.access, isGuarded: false, wrap: REPEATS_APPENDS, ...varied },
      seed: `${stage.world.seed} ${name}`,
      history: undefined,
    });
  const loads = await Promise.all([start('unguarded', {}), start('unlimited', { sql: NO_LIMITS })] as const);
  const { from, to } = await pause(stage);
  const [unguarded, unlimited] = await Promise.all([loads[0].stop(), loads[1].stop()]);
  const waited = ({ answers }: Loaded): Waited => waitedIn(answers, { from: from + TRIPPED_MS, to }, shards);
  const { doubled } = compareKept([...unguarded.written.acked, ...unlimited.written.acked], await storedLogs(groups));
  return { unguarded: waited(unguarded), unlimited: waited(unlimited), doubled };
}

/** SIGSTOP of the group's writer, with some peace before and after. Returns when it was stopped. */
async function pause(stage: Stage): Promise<Phase> {
  const { servers, world } = stage;
  const { node } = nodeOf(servers, PAUSED);
  await stage.wait(WARM_UP_MS + PEACE_MS);
  const from = Date.now();
  servers.pause(node);
  try {
    world.say(`SIGSTOP of ${node}`);
    await stage.wait(PAUSE_SECONDS * 1000);
  } finally {
    servers.resume(node);
  }
  const to = Date.now();
  world.say(`SIGCONT of ${node}`);
  await stage.wait(AFTER_MS);
  return { from, to };
}

function promptly(what: string, waits: Waits, unguarded: Waits, unlimited: Waits): Check {
  return {
    what: `${what}, refused; control: no circuit breakers; no time limits`,
    figure: `${seconds(waits.p99)}, ${waits.refused} of ${grouped(waits.count)}`,
    bar: `< ${MOST_MS / 1000}, <= ${MOST_REFUSED * 100} % of at least ${LEAST_WRITES}`,
    passed: waits.p99 < MOST_MS && waits.refused <= MOST_REFUSED * waits.count && waits.count >= LEAST_WRITES,
    control: {
      figure: `${seconds(unguarded.p99)}; ${seconds(unlimited.p99)}`,
      failed: unguarded.p99 >= MOST_MS && unlimited.p99 > CONTROL_LEAST_MS,
    },
  };
}

function waitedLine({ own, others }: Waited): string {
  return `${waitsLine(own)}; others: ${waitsLine(others)}`;
}
