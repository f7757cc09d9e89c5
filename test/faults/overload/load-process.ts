/** A process of its own that loads a stack: up to its peak, gently, far beyond its peak, and gently again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { allWritten } from '../load/ledger.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { percentile } from '../../support/percentile.ts';
import { goodput, latencyP99, secondsUntilCalm } from './answered-puts.ts';
import {
  putClient,
  type LoadPlan,
  type LoadProgress,
  type LoadResult,
  type Normal,
  type PutClient,
} from './put-client.ts';
import { closedLoop, openLoop } from '../../support/pace.ts';

const OVER = 3;
const WARM_UP_MS = 3000;
/** Numbers of concurrent clients, each for a while: the best of them is the peak. */
const CLIENTS = [16, 32, 64];
const PEAK_MS = 3500;
const GENTLE_SHARE = 0.1;
const GENTLE_MS = 6000;
/** The latency is normal again below this multiple of its earlier value. */
const CALM_TIMES = 2;
/** The time until the overload has set in; excluded from its goodput. */
const ONSET_MS = 5000;
const REST_MS = 1000;
/** The time for the last requests of a gentle load. */
const PATIENCE_MS = 15_000;
/** The pause of a client of a closed loop after a refusal. */
const REFUSED_PAUSE_MS = 20;

await runAsProcess<LoadPlan, LoadProgress>(async (plan, control) => {
  control.ready();
  const calm = plan.normal === undefined ? await calmLoad(plan) : { normal: plan.normal, clients: [] };
  const { peak, gentleP99 } = calm.normal;
  await control.say({ line: `peak ${peak.toFixed(0)} writes/s, p99 of a gentle load ${gentleP99.toFixed(0)} ms` });
  const result = await overload(plan, calm.normal, calm.clients);
  await control.say({ result });
  // The outcome of open requests no longer matters.
  if (result.open > 0) process.exit(0);
});

/** Finds the peak, then the latency of a gentle load. */
async function calmLoad(plan: LoadPlan): Promise<{ readonly normal: Normal; readonly clients: readonly PutClient[] }> {
  const once = { ...plan, retries: 'as they are' } as const;
  const peaking = putClient({ ...once, name: 'peak' });
  const send = async (): Promise<void> => {
    if (!(await peaking.put())) await sleep(REFUSED_PAUSE_MS);
  };
  await closedLoop({ clients: CLIENTS[0] ?? 1, milliseconds: WARM_UP_MS, send });
  let peak = 0;
  for (const clients of CLIENTS) {
    const start = performance.now();
    await closedLoop({ clients, milliseconds: PEAK_MS, send });
    peak = Math.max(peak, goodput(peaking.puts, start, start + PEAK_MS));
  }
  await sleep(REST_MS);
  const gentle = putClient({ ...once, name: 'gentle' });
  await openLoop({ perSecond: peak * GENTLE_SHARE, milliseconds: GENTLE_MS, send: (dueAt) => void gentle.put(dueAt) });
  await untilEnded(gentle, PATIENCE_MS);
  return { normal: { peak, gentleP99: latencyP99(gentle.puts) }, clients: [peaking, gentle] };
}

async function overload(plan: LoadPlan, normal: Normal, before: readonly PutClient[]): Promise<LoadResult> {
  const offered = normal.peak * OVER;
  const crowd = putClient({ ...plan, name: 'crowd' });
  const milliseconds = plan.overloadSeconds * 1000;
  const start = performance.now();
  await openLoop({ perSecond: offered, milliseconds, send: (dueAt) => void crowd.put(dueAt) });
  const end = start + milliseconds;

  const gentle = putClient({ ...plan, retries: 'as they are', name: 'after' });
  await openLoop({
    perSecond: normal.peak * GENTLE_SHARE,
    milliseconds: plan.recoverySeconds * 1000,
    send: (dueAt) => void gentle.put(dueAt),
  });
  const watchedUntil = performance.now();
  await Promise.all([crowd, gentle].map((client) => untilEnded(client, plan.patienceSeconds * 1000)));
  const { counts, waitedMs } = crowd.counted;
  return {
    normal,
    offered,
    requests: crowd.started,
    tries: counts.tries,
    goodput: goodput(crowd.puts, start + ONSET_MS, end),
    recoverySeconds: secondsUntilCalm(gentle.puts, CALM_TIMES * normal.gentleP99, end, watchedUntil),
    waitedP99: percentile(waitedMs(), 0.99),
    refusals: { count: counts.refused, withoutRetryAfter: counts.withoutRetryAfter },
    latenessP99: percentile(crowd.latenessMs, 0.99),
    open: crowd.started - crowd.puts.length,
    written: allWritten([...before, crowd, gentle].map((client) => client.written())),
    refusedCells: crowd.refusedCells,
  };
}

async function untilEnded(client: PutClient, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (client.puts.length < client.started && performance.now() < deadline) await sleep(50);
}
