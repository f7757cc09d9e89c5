import type { Json, NewCell } from '../../shared/cell.ts';
import type { Condition } from '../../shared/api/condition.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import type { Differences } from './differences.ts';
import { persist } from '../support/persist.ts';
import { textTable } from '../support/text-table.ts';
import { recheck, type Rechecking, type Wrong } from './recheck.ts';

const INDEX = 'driver_partner_index';
interface IndexedTrip {
  readonly row_key: string;
  readonly driver: string;
  readonly city: string;
  readonly createdAt: number;
}

type IndexCheck = Omit<Rechecking, 'size'> & { readonly differences: Differences };
type DriverTrips = readonly [driver: string, trips: readonly IndexedTrip[]];

export interface IndexFindings {
  /** Drivers whose trips the index showed exactly. */
  readonly drivers: number;
  /** A driver's trips in a city within a time, as lines of a table. */
  readonly example: readonly string[];
}

/** Asks the index for the trips of every driver and compares with what was written. */
export async function checkIndex(
  store: DemoStore,
  latest: Iterable<NewCell>,
  check: IndexCheck,
): Promise<IndexFindings> {
  const trips = [...latest].filter(({ column_name }) => column_name === 'BASE').map(toTrip);
  const byDriver = [...Map.groupBy(trips, ({ driver }) => driver)].sort(([, a], [, b]) => b.length - a.length);
  let drivers = 0;
  // Earlier runs may have left a driver other trips.
  const missing = async ([one]: readonly DriverTrips[]): Promise<readonly Wrong<DriverTrips>[]> => {
    if (one === undefined) return [];
    const [driver, wanted] = one;
    const shown = await rowsOf(
      store,
      [{ field: 'driver_partner_uuid', operator: 'eq', values: [driver] }],
      check.signal,
    );
    const left = wanted.filter(({ row_key }) => !shown.includes(row_key));
    if (left.length > 0)
      return [{ item: one, what: `index: wanted ${wanted.length} trips, ${left.length} of them missing` }];
    drivers += 1;
    check.differences.pass();
    return [];
  };
  for (const { item, what } of await recheck(byDriver, missing, { ...check, size: 1 }))
    check.differences.fail(`driver ${item[0]}`, what);
  return { drivers, example: await showExample(store, byDriver[0]?.[1] ?? [], check) };
}

/** The busiest driver's trips in the city of most of them, within the middle half of their time. */
async function showExample(
  store: DemoStore,
  trips: readonly IndexedTrip[],
  { signal, differences }: IndexCheck,
): Promise<readonly string[]> {
  const [city = '', inCity = []] =
    [...Map.groupBy(trips, (trip) => trip.city)].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const times = inCity.map(({ createdAt }) => createdAt).sort((a, b) => a - b);
  const [from = 0, to = 0] = [times[Math.floor(times.length / 4)], times[Math.floor((times.length * 3) / 4)]];
  const at = (milliseconds: number): string => new Date(milliseconds).toISOString();
  const where: Condition[] = [
    { field: 'driver_partner_uuid', operator: 'eq', values: [trips[0]?.driver ?? ''] },
    { field: 'city_uuid', operator: 'eq', values: [city] },
    { field: 'trip_created_at', operator: 'gte', values: [at(from)] },
    { field: 'trip_created_at', operator: 'lte', values: [at(to)] },
  ];
  const { entries } = await persist(signal, () =>
    store.query({ index: INDEX, where, order: 'trip_created_at', limit: 1000 }),
  );
  const shown = new Set(entries.map(({ row_key }) => row_key));
  const wanted = inCity.filter(({ createdAt }) => createdAt >= from && createdAt <= to);
  const wrong = wanted.filter(({ row_key }) => !shown.has(row_key)).length;
  if (wrong === 0) differences.pass();
  else
    differences.fail(
      'index query',
      `wanted ${wanted.length} trips of a driver in a city within a time, ${wrong} of them missing`,
    );
  const rows = entries
    .slice(0, 5)
    .map(({ row_key, fields }) => [
      `${row_key.slice(0, 8)}…`,
      String(fields['trip_created_at']),
      String(fields['fare.total']),
      fields['is_completed'] === true ? 'paid' : '',
    ]);
  return [
    `The busiest driver's trips in one city, ${at(from).slice(0, 16)} to ${at(to).slice(0, 16)}: ${entries.length} of ${trips.length}, from one shard`,
    ...textTable([['row key', 'created', 'fare', ''], ...rows], [2]),
    ...(entries.length > rows.length ? [`… and ${entries.length - rows.length} more`] : []),
  ];
}

async function rowsOf(store: DemoStore, where: readonly Condition[], signal: AbortSignal): Promise<string[]> {
  const rows: string[] = [];
  for (let next: string | undefined; ;) {
    const after = next;
    const page = await persist(signal, () => store.query({ index: INDEX, where, limit: 1000, after }));
    rows.push(...page.entries.map(({ row_key }) => row_key));
    if (page.next === null) return rows;
    next = page.next;
  }
}

function toTrip({ row_key, body }: NewCell): IndexedTrip {
  const base = body as { readonly [field: string]: Json };
  return {
    row_key,
    driver: String(base['driver_partner_uuid']),
    city: String(base['city_uuid']),
    createdAt: Date.parse(String(base['trip_created_at'])),
  };
}
