import type { NewCell } from '../../shared/cell.ts';
import { queryAll } from '../../shared/client/pages.ts';
import type { IndexEntry } from '../../shared/contract/index-query.ts';
import { textTable } from '../support/text-table.ts';
import { recheckEach, type Checking, type DemoClient } from './recheck.ts';

type DriverTrips = readonly [driver: string, trips: readonly NewCell[]];

interface IndexFindings {
  /** Drivers whose trips the index showed. */
  readonly drivers: number;
  /** Trips of the busiest driver, as lines of a table. */
  readonly example: readonly string[];
}

/** Queries the index for the trips of every driver and compares them with the writes. Ignores those of earlier runs. */
export async function checkIndex(bases: readonly NewCell[], checking: Checking): Promise<IndexFindings> {
  const { store, differences } = checking;
  const byDriver = [...Map.groupBy(bases, ({ body }) => String(Object(body).driver_partner_uuid))].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  const check = async ([driver, wanted]: DriverTrips): Promise<string | undefined> => {
    const shown = new Set((await entriesOf(store, driver)).map(({ row_key }) => row_key));
    const missing = wanted.filter(({ row_key }) => !shown.has(row_key)).length;
    return missing === 0 ? undefined : `index: wanted ${wanted.length} trips, ${missing} of them missing`;
  };
  const wrong = await recheckEach(byDriver, check, checking);
  for (const { item, what } of wrong) differences.fail(`driver ${item[0]}`, what);
  const busiest = await entriesOf(store, byDriver[0]?.[0] ?? '');
  const rows = busiest
    .slice(0, 5)
    .map(({ row_key, fields }) => [
      `${row_key.slice(0, 8)}…`,
      String(fields['trip_created_at']),
      String(fields['fare.total']),
      fields['is_completed'] === true ? 'paid' : '',
    ]);
  return {
    drivers: byDriver.length - wrong.length,
    example: [
      `The ${busiest.length} trips of the busiest driver, from one shard, the last first`,
      ...textTable([['row key', 'created', 'fare', ''], ...rows], [2]),
      ...(busiest.length > rows.length ? [`… and ${busiest.length - rows.length} more`] : []),
    ],
  };
}

function entriesOf(store: DemoClient, driver: string): Promise<IndexEntry[]> {
  const where = { driver_partner_uuid: driver };
  const query = { index: 'driver_partner_index', where, order: '-trip_created_at', limit: 1000 };
  return Array.fromAsync(queryAll(store, query));
}
