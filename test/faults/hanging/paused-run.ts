import { nodeOf } from '../../support/nodes.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { judgeAnswers } from '../acks/judge-answers.ts';
import { dropUniqueKeys, untrueCheck } from '../acks/told-truth.ts';
import { grouped, type Check } from '../fault-run.ts';
import { seconds, waitedIn, waitsLine, type Phase, type Waited, type Waits } from '../load/latency.ts';
import type { Loaded } from '../load/load-thread.ts';
import { STEADY, WARM_UP_MS } from '../load/paced.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { compareKept, readCellsThere, storedLogs } from '../stored-cells.ts';

const PAUSED = 'group-1';
const WRITERS = 16;
const PER_SECOND = 5;
const CONTROL_PER_SECOND = 4;
const PEACE_MS = 4000;
/** Writes that began this long before the stop may meet it. */
const UNDER_WAY_MS = 500;
const PAUSE_SECONDS = 20;
/** A time limit of four seconds must pass before any client notices. */
const TRIPPED_MS = 5000;
/** The time for earlier requests to land, and for writes without a fault. */
const AFTER_MS = 5000;
/** Longer than the server is paused: nothing ends by itself. */
const NO_LIMIT_MS = 60_000;
const NO_LIMITS = { queryTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: NO_LIMIT_MS, acquireTimeoutMs: NO_LIMIT_MS };
const MOST_MS = 1000;
/** The share of refused writes: one that is refused at once does not wait. */
const MOST_REFUSED = 0.01;
const CONTROL_LEAST_MS = 10_000;
/** The writes to a paused group, and the others, each. */
const LEAST_WRITES = 300;
const LEAST_CELLS = 2000;

export const pausedRun = stagedRun({
  name: 'paused',
  promise: 'A database that hangs delays no caller, and its late statements do no harm',
  fault: `SIGSTOP of a group's writer for ${PAUSE_SECONDS} s, under ${WRITERS} writers to all groups`,
  control: 'no circuit breakers, no time limits; tables without unique key',
  alone: true,
  servers: { shards: 48 },
  async real(stage) {
    const shards = await shardsOf((await stage.open()).datastore, PAUSED);
    await stage.drain();
    const load = await stage.load({ ...STEADY, writers: WRITERS, perSecond: PER_SECOND });
    const { from, to } = await pause(stage);
    const { written, answers, openings } = await load.stop();
    return {
      shards,
      waited: waitedIn(answers, { from: from + TRIPPED_MS, to }, shards),
      inPeace: waitedIn(answers, { from: from - PEACE_MS, to: from - UNDER_WAY_MS }, shards),
      openings: openings.map(({ circuit, at }) => `${circuit} at ${seconds(at - from)} s`),
      aftermath: await stage.inspect(written),
      judged: judgeAnswers(answers, await readCellsThere(stage.access.groups)),
    };
  },
  /** Repeats it without circuit breakers, then also without time limits on tables without unique keys. */
  async without(stage, { shards }) {
    const { groups } = stage.access;
    await dropUniqueKeys(groups);
    const start = (name: string, varied: Partial<StoreAccess>) =>
      stage.load({
        ...STEADY,
        writers: WRITERS,
        perSecond: CONTROL_PER_SECOND,
        access: { ...stage.without('leavingOut'), isGuarded: false, ...varied },
        seed: `${stage.world.seed} ${name}`,
      });
    const loads = await Promise.all([start('unguarded', {}), start('unlimited', { sql: NO_LIMITS })] as const);
    const { from, to } = await pause(stage);
    const [unguarded, unlimited] = await Promise.all([loads[0].stop(), loads[1].stop()]);
    const waited = ({ answers }: Loaded): Waited => waitedIn(answers, { from: from + TRIPPED_MS, to }, shards);
    const { doubled } = compareKept([...unguarded.written.acked, ...unlimited.written.acked], await storedLogs(groups));
    return { unguarded: waited(unguarded), unlimited: waited(unlimited), doubled };
  },
  judge: ({ aftermath, judged, waited, inPeace, openings }, { unguarded, unlimited, doubled }) => ({
    checks: [
      promptly(waited, unguarded.own, unlimited.own),
      {
        ...untrueCheck({ aftermath, untrue: judged.untrue }, LEAST_CELLS),
        control: { result: `${grouped(doubled)} doubled`, failed: doubled > 0 },
      },
    ],
    notes: [
      ...Object.entries({
        'in peace': inPeace,
        'from 5 s after the stop': waited,
        '… without circuit breakers': unguarded,
        '… without time limits, too': unlimited,
      }).map(([what, { own, others }]) => `${what}: ${waitsLine(own)}; others: ${waitsLine(others)}`),
      `circuits opened: ${openings.join(', ')}`,
      ...judged.examples,
    ],
  }),
});

async function pause(stage: Stage): Promise<Phase> {
  const { servers } = stage;
  const { node } = nodeOf(servers, PAUSED);
  await stage.wait(WARM_UP_MS + PEACE_MS);
  const from = Date.now();
  servers.pause(node);
  try {
    stage.say(`SIGSTOP of ${node}`);
    await stage.wait(PAUSE_SECONDS * 1000);
  } finally {
    servers.resume(node);
  }
  const to = Date.now();
  stage.say(`SIGCONT of ${node}`);
  await stage.wait(AFTER_MS);
  return { from, to };
}

/** In the controls the paused group's writes fail: all others have hints on a third group, whatever is off. */
function promptly({ own, others }: Waited, unguarded: Waits, unlimited: Waits): Check {
  const line = ({ p99, refused, count }: Waits): string => `${seconds(p99)}, ${refused} of ${grouped(count)}`;
  return {
    what: 'seconds (p99) that writes to the paused group waited, refused; all others; control: no circuit breakers; no time limits',
    result: `${line(own)}; ${line(others)}`,
    bar: `each < ${MOST_MS / 1000}, <= ${MOST_REFUSED * 100} % of at least ${LEAST_WRITES}`,
    passed: [own, others].every(
      ({ p99, refused, count }) => p99 < MOST_MS && refused <= MOST_REFUSED * count && count >= LEAST_WRITES,
    ),
    control: {
      result: `${seconds(unguarded.p99)}; ${seconds(unlimited.p99)}`,
      failed: unguarded.p99 >= MOST_MS && unlimited.p99 > CONTROL_LEAST_MS,
    },
  };
}
