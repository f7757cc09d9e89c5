import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from '../../infra/local/folder/data-folder.ts';
import type { NewCell } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { BillWatch } from '../support/billing/bill-watch.ts';
import { operatorsClient, type OperatorsClient } from '../support/operators-client.ts';
import { persist } from '../support/persist.ts';
import { openLoop } from '../support/pace.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { openLibrary } from './http/open-library.ts';
import { startStack } from './http/start-stack.ts';
import { calmTrip } from './lags/calm-trips.ts';
import { startsInLog } from './lags/handler-starts.ts';
import { percentile } from '../support/percentile.ts';
import { rowsOn } from './rows.ts';

/**
 * Trips written each second; of each the trigger writes two more cells, so that the store takes three times as many
 * puts.
 */
const TRIPS_A_SECOND = 10;
const SECONDS = 40;
/**
 * Trips billed before the measurement, at a rate that strains the stack. It starts as many instances of the trigger's
 * function as there will ever be, and compiles code.
 */
const WARM = { trips: 150, perSecond: 50 };
const BILLING_PATIENCE_MS = 20_000;
const INDEX = 'driver_partner_index';
const BAR = { indexP99: 5, triggerP50: 20, triggerP99: 100 };

export const lagsBench: Bench = {
  name: 'lags',
  what: `how soon an index and a trigger follow a put through HTTP, ${TRIPS_A_SECOND} trips a second for ${SECONDS} s on a whole local stack`,
  limitMinutes: 2,

  async measure(world): Promise<Findings> {
    await using started = await startStack(world);
    const { stack, data, engine } = started;
    const store = operatorsClient({ url: stack.url, datastore: DATASTORE });
    const starts = await startsInLog(dataFolder(data).functionLog);
    const { signal, say } = world;
    const watching = { store, patienceMs: BILLING_PATIENCE_MS, signal };
    const [before, watch] = [new BillWatch(watching), new BillWatch(watching)];

    // Queries the table itself: through HTTP a query takes longer than the lag that is measured.
    await using library = await openLibrary(stack);
    const indexMs: number[] = [];
    const queryMs: number[] = [];
    const answered: { readonly trip: NewCell; readonly at: number }[] = [];
    const write = async (trip: NewCell): Promise<void> => {
      answered.push({ trip, at: Date.now() });
      watch.acknowledged(trip);
      indexMs.push(await untilFound(library.datastore, trip, signal));
      queryMs.push(await untilFound(store, trip, signal));
    };
    await writeAtRate(store, { ...WARM, signal }, async (trip) => {
      before.acknowledged(trip);
      await Promise.all([library.datastore, store].map((datastore) => untilFound(datastore, trip, signal)));
    });
    await before.finish();
    say(`warmed up with ${WARM.trips} trips`);
    await writeAtRate(store, { trips: TRIPS_A_SECOND * SECONDS, perSecond: TRIPS_A_SECOND, signal }, write);
    const unbilled = await watch.finish();
    await starts.read();
    const triggerMs = answered.flatMap(({ trip, at }) => {
      const start = starts.startOf(trip);
      // The function may be started before the put is answered.
      return start === undefined ? [] : [Math.max(0, start - at)];
    });
    say(`${indexMs.length} trips, ${unbilled.length} not billed`);
    return { measured: measured({ indexMs, queryMs, triggerMs }, engine) };
  },
};

interface Rate {
  readonly trips: number;
  readonly perSecond: number;
  readonly signal: AbortSignal;
}

/**
 * Writes trips at fixed times, however long earlier ones take, and waits until the last is answered and processed.
 *
 * @param written called for each trip when it is answered `stored`
 */
async function writeAtRate(
  store: OperatorsClient,
  { trips, perSecond, signal }: Rate,
  written: (trip: NewCell) => Promise<void>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  const writeOne = async (): Promise<void> => {
    const trip = calmTrip();
    const { outcome } = await persist(signal, () => store.put(trip));
    if (outcome === 'stored') await written(trip);
  };
  const send = (): void => {
    const one = writeOne();
    // Failures are reported below: until then they must not be unhandled rejections.
    one.catch(() => undefined);
    underWay.push(one);
  };
  await openLoop({ perSecond, milliseconds: (trips / perSecond) * 1000, send });
  await Promise.all(underWay);
}

/** Returns the time from now until a query's answer shows the trip's row, including the time of the query itself. */
async function untilFound(
  store: Pick<Datastore, 'query'>,
  { row_key, body }: NewCell,
  signal: AbortSignal,
): Promise<number> {
  const start = performance.now();
  const driver = String(Object(body).driver_partner_uuid);
  for (;;) {
    const { entries } = await persist(signal, () =>
      store.query({
        index: INDEX,
        where: { driver_partner_uuid: driver },
        limit: 10,
      }),
    );
    if (entries.some((entry) => entry.row_key === row_key)) return performance.now() - start;
    // An entry usually comes with its put: polling at once would load the machine for one that a repair brings.
    await sleep(2, undefined, { signal });
  }
}

interface Lags {
  readonly indexMs: readonly number[];
  readonly queryMs: readonly number[];
  readonly triggerMs: readonly number[];
}

function measured({ indexMs, queryMs, triggerMs }: Lags, engine: string): readonly Measured[] {
  const wanted = TRIPS_A_SECOND * SECONDS;
  const make = rowsOn(engine);
  const row = (what: string, lags: readonly number[], share: number, bar?: number): Measured => {
    const lag = percentile(lags, share);
    const passed = (bar === undefined || lag < bar) && lags.length === wanted;
    const least = bar === undefined ? undefined : `< ${bar} ms`;
    return make(`${what}, p${share * 100} of ${lags.length}`, `${lag.toFixed(1)} ms`, least, passed);
  };
  const load = `${TRIPS_A_SECOND} trips a second`;
  return [
    row(
      `index lag, from a put's answer to that of a query of the library that shows it; ${load}`,
      indexMs,
      0.99,
      BAR.indexP99,
    ),
    row('a query through HTTP behind it', queryMs, 0.5),
    row('… the same', queryMs, 0.99),
    row(`trigger lag, from a put's answer to the start of the function; ${load}`, triggerMs, 0.5, BAR.triggerP50),
    row('… the same', triggerMs, 0.99, BAR.triggerP99),
  ];
}
