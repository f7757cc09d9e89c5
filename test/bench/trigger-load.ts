import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from '../../infra/local/folder/data-folder.ts';
import type { NewCell } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { isKept } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { calmTrip } from './lags/calm-trips.ts';
import { startsInLog } from './lags/handler-starts.ts';
import { kneeOf, type AtRate } from './load/knee.ts';
import { rateLine, rowsOf } from './load/load-findings.ts';
import { atRate, risingLoad } from './load/rising-load.ts';
import { percentile } from '../support/percentile.ts';
import { rowsOn, type RowMaker } from './rows.ts';
import { backlogBySecond, courseOf, lagsOf, type Triggered } from './trigger-load/backlog.ts';

const TRIGGER = 'bill_rider';
/** Of the rate up to which puts of a triggered column are borne, with what their trigger does. */
const SHARE = 0.7;
/** Of what callers who wait for their answers put: they take what the trigger would need. */
const SHARES = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1];
const SECONDS = 60;
/** For the last functions to be started: later ones count as never. */
const [LAST_MS, LOOK_MS] = [20_000, 250];
/** For the trigger to do what a rate has left it. */
const CATCH_UP_MS = 180_000;
const MOST_P99_MS = 1000;

/** Whether a trigger keeps up with puts for as long as they are borne. Its function writes two cells more for each. */
export const triggerLoadBench: Bench = {
  name: 'trigger-load',
  what: `whether a trigger keeps up, ${SECONDS} s at ${SHARE * 100} % of the rate up to which puts of its column through HTTP and what it does are borne, on a whole local stack`,
  apart: true,
  limitMinutes: 8,

  async measure(world): Promise<Findings> {
    const { signal, say } = world;
    await using started = await startStack(world);
    const { stack, data, engine } = started;
    const client = schemalessClient({ url: stack.url, datastore: DATASTORE, attempts: 1 });
    const starts = await startsInLog(dataFolder(data).functionLog);
    const answered: { readonly trip: NewCell; readonly at: number }[] = [];
    const put = async (): Promise<boolean> => {
      const trip = calmTrip();
      const isAnswered = await client.put(trip).then(isKept, refused);
      if (isAnswered) answered.push({ trip, at: Date.now() });
      return isAnswered;
    };
    const what = 'put of a triggered column through HTTP';
    const behind = async (): Promise<number> => {
      await starts.read();
      return answered.filter(({ trip }) => starts.startOf(trip) === undefined).length;
    };
    // What the trigger has not yet done of the rate before is no work of the next.
    const caughtUp = async (): Promise<void> => {
      const deadline = performance.now() + CATCH_UP_MS;
      while ((await behind()) > 0) {
        if (performance.now() > deadline)
          throw new Error(`${TRIGGER} has not caught up within ${CATCH_UP_MS / 1000} s`);
        await sleep(LOOK_MS, undefined, { signal });
      }
      answered.length = 0;
    };
    const seen = (rate: AtRate): void => say(`${what}: ${rateLine(rate)}`);
    const load = await risingLoad(put, { shares: SHARES, signal, between: caughtUp, behind, seen });
    const measured = rowsOf(what, load, engine);
    const knee = kneeOf(load.rates);
    // Its row says that there is none, and fails: there is no rate to go on at.
    if (!knee) return { measured };

    await caughtUp();
    const offered = knee.offered * SHARE;
    const from = Date.now();
    const rate = await atRate(put, { offered, milliseconds: SECONDS * 1000, signal });
    say(`${what}: ${rateLine(rate)}`);
    const deadline = performance.now() + LAST_MS;
    while (performance.now() < deadline && (await behind()) > 0) await sleep(LOOK_MS, undefined, { signal });

    const cells = answered.map(({ trip, at }): Triggered => ({ answeredAt: at, startedAt: starts.startOf(trip) }));
    const backlog = backlogBySecond(cells, { from, to: from + SECONDS * 1000 });
    const judged = judge(cells, backlog, offered, rowsOn(engine));
    return { measured: [...measured, ...judged] };
  },
};

function judge(
  cells: readonly Triggered[],
  backlog: readonly number[],
  offered: number,
  row: RowMaker,
): readonly Measured[] {
  const lags = lagsOf(cells);
  const [p50, p99] = [percentile(lags, 0.5), percentile(lags, 0.99)];
  const { middle, late, isFlat } = courseOf(backlog, offered);
  const never = lags.filter((lag) => !Number.isFinite(lag)).length;
  const at = `${SHARE * 100} % of the knee for ${SECONDS} s`;
  const milliseconds = (lag: number): string => (Number.isFinite(lag) ? `${lag.toFixed(0)} ms` : 'for ever');
  return [
    row(
      `trigger lag, from a put's answer to the start of the function; ${at}`,
      `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)} of ${lags.length.toLocaleString('en-US')} (${offered.toFixed(0)} a second); ${never} not started`,
      `p99 < ${MOST_P99_MS} ms`,
      p99 < MOST_P99_MS,
    ),
    row(
      `trigger backlog, cells answered and not started; ${at}`,
      `${late.toFixed(0)} in the last third, ${middle.toFixed(0)} in the one before`,
      `flat: at most half a second's worth more, ${(offered / 2).toFixed(0)}`,
      isFlat,
    ),
  ];
}

function refused(error: unknown): false {
  if (error instanceof SchemalessError && error.retry === 'later') return false;
  throw error;
}
