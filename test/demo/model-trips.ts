import type { Cell, Json, NewCell } from '../../shared/cell.ts';
import { textTable } from '../support/text-table.ts';
import { identity } from '../support/trips/identity.ts';
import { comes } from '../support/until.ts';
import { checkVersions, columnsOf } from './read-back.ts';
import type { Checking } from './recheck.ts';
import { writeCells } from './write.ts';

const cellOf = (trip: string, column_name: string, ref_key: number, body: Json): NewCell => ({
  row_key: identity(`model trip/${trip}`),
  column_name,
  ref_key,
  body,
});
const fareOf = (total: number, from: string, to: string): Json => ({
  fare: { total, currency: 'USD' },
  from,
  to,
  driver_partner_uuid: identity('driver/0'),
  city_uuid: identity('city/Manhattan'),
});

/**
 * Trip 1 has a card that declines once, so that it is billed at the second attempt; trip 2 was corrected once, and has
 * a note.
 */
const TRIPS: Readonly<Record<string, readonly NewCell[]>> = {
  'trip 1': [cellOf('15', 'BASE', 1, fareOf(24.2, 'Midtown', 'JFK'))],
  'trip 2': [
    cellOf('2', 'BASE', 1, fareOf(11.75, 'SoHo', 'Chelsea')),
    cellOf('2', 'BASE', 2, fareOf(9.5, 'SoHo', 'Chelsea')),
    cellOf('2', 'NOTES', 1, { rating: 5, text: 'Très bon chauffeur 👍' }),
  ],
};

interface ModelTripsOptions extends Checking {
  /** How long a trip may take to be billed; undefined without a trigger. */
  readonly billedWithinMs: number | undefined;
  readonly tries: number | undefined;
}

/**
 * Writes two trips, waits until the trigger has billed them, and returns the lines of a table that shows them as the
 * rows and versions they are. Compares what was acknowledged, and reports any other outcome.
 */
export async function showModelTrips(options: ModelTripsOptions): Promise<readonly string[]> {
  const { store, billedWithinMs, signal, differences } = options;
  const written = await writeCells(Object.values(TRIPS).flat(), options);
  const rows: string[][] = [['', 'row key', 'column', 'ref key', 'body', '']];
  for (const [name, cells] of Object.entries(TRIPS)) {
    const columns = columnsOf(cells, written);
    await checkVersions(columns, options);
    const row_key = cells[0]?.row_key ?? '';
    const versionsOf = async (column_name: string): Promise<readonly Cell[]> =>
      (await store.versions({ row_key, column_name }, { order: 'asc' })).cells;
    const names = new Set(cells.map(({ column_name }) => column_name));
    if (billedWithinMs !== undefined && columns.some(([first]) => first?.column_name === 'BASE')) {
      names.add('STATUS');
      const isBilled = async (): Promise<boolean> =>
        Object((await versionsOf('STATUS')).at(-1)?.body).is_completed === true;
      if (await comes(isBilled, { pollMs: 100, patienceMs: billedWithinMs, signal })) differences.passed += 1;
      else differences.fail(`${row_key}/STATUS`, `${name} was not billed in time`);
    }
    for (const column of names) rows.push(...rowsOf(name, await versionsOf(column)));
  }
  return textTable(rows, [3]);
}

function rowsOf(name: string, versions: readonly Cell[]): string[][] {
  return versions.map(({ row_key, column_name, ref_key, body }, position) => {
    const text = JSON.stringify(body);
    const shown = text.length > 56 ? `${text.slice(0, 55)}…` : text;
    const isLatest = position === versions.length - 1;
    return [name, `${row_key.slice(0, 8)}…`, column_name, String(ref_key), shown, isLatest ? 'latest' : ''];
  });
}
