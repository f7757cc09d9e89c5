/** A process of its own with the store in it: finds the peak of a mixed load, then keeps up a share of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { BufferOperations } from '../../../shared/contract/datastore.ts';
import { closedLoop, openLoop } from '../../support/pace.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { openStore } from '../../support/store-access.ts';
import { Latencies } from '../growth/latencies.ts';
import { median } from '../side-by-side.ts';
import { mixedWork, type MixedWork } from './mixed-work.ts';
import type { SoakMinute, SoakPlan, SoakProgress } from './soak-plan.ts';

const CONNECTIONS = 16;
const WARM_UP_MS = 5000;
/** Callers side by side, each number for a while: the best of them is the peak. */
const CALLERS = [8, 16, 32];
const PEAK_MS = 8000;
/** What the peak left in the buffer is drained first, for so long at most. */
const REST_MS = 60_000;
const POLL_MS = 250;
/** An operation that is refused counts as slower than any that is done. */
const FOR_EVER_MS = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: object) => void;

await runAsProcess<SoakPlan, SoakProgress>(
  async ({ access, seed, written, minutes, minuteSeconds, share }, control) => {
    await using store = await openStore(access, { connections: CONNECTIONS });
    const work = mixedWork(store.datastore, { seed, written });
    await control.ready();
    const peak = await findPeak(work);
    await control.say({ peak, minutes: [] });
    await untilDrained(store.datastore);
    const soaked: SoakMinute[] = [];
    const twelfths = Array.from({ length: 12 }, () => new Latencies());
    while (soaked.length < minutes && !control.signal.aborted) {
      const { refused, wrong } = work;
      await steadyMinute(work, twelfths, peak * share, minuteSeconds * 1000);
      // Between two minutes, so that no operation waits for it.
      collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      soaked.push({
        p50: median(twelfths.map((latencies) => latencies.percentile(50))),
        p99: median(twelfths.map((latencies) => latencies.percentile(99))),
        operations: twelfths.reduce((sum, { count }) => sum + count, 0),
        refused: work.refused - refused,
        wrong: work.wrong - wrong,
        buffered: await buffered(store.datastore),
        residentBytes: process.memoryUsage.rss(),
      });
      await control.say({ peak, minutes: soaked });
    }
  },
);

/** Copies of writes that wait in the groups' buffers. */
async function buffered(datastore: BufferOperations): Promise<number> {
  return (await datastore.buffer()).reduce((sum, group) => sum + (group.error ? 0 : group.rows), 0);
}

async function untilDrained(datastore: BufferOperations): Promise<void> {
  const end = performance.now() + REST_MS;
  while ((await buffered(datastore)) > 0 && performance.now() < end) await sleep(POLL_MS);
}

async function findPeak(work: MixedWork): Promise<number> {
  let peak = 0;
  for (const [milliseconds, clients] of [
    [WARM_UP_MS, CALLERS[0] ?? 1],
    ...CALLERS.map((clients): [number, number] => [PEAK_MS, clients]),
  ] as const) {
    let done = 0;
    const start = performance.now();
    await closedLoop({
      clients,
      milliseconds,
      send: async () => {
        if (await work.once()) done += 1;
      },
    });
    peak = Math.max(peak, (done * 1000) / (performance.now() - start));
  }
  return peak;
}

/** Ends when the last operation has. */
async function steadyMinute(
  work: MixedWork,
  parts: readonly Latencies[],
  perSecond: number,
  milliseconds: number,
): Promise<void> {
  for (const latencies of parts) latencies.reset();
  const start = performance.now();
  const underWay = new Set<Promise<void>>();
  const send = (dueAt: number): void => {
    const latencies = parts[Math.min(parts.length - 1, Math.floor(((dueAt - start) / milliseconds) * parts.length))];
    const done: Promise<void> = work
      .once()
      .then((isDone) => latencies?.note(isDone ? performance.now() - dueAt : FOR_EVER_MS))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  await openLoop({ perSecond, milliseconds, send });
  await Promise.all(underWay);
}
