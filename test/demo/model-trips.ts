import type { Cell, Json, NewCell, PutResult } from '../../shared/cell.ts';
import { persist } from '../support/persist.ts';
import { textTable } from '../support/text-table.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { identity } from '../support/trips/identity.ts';
import { comes } from '../support/until.ts';
import { checkVersions } from './check-versions.ts';
import { notWritten, writeUntilConfirmed } from './confirm.ts';
import type { Differences } from './differences.ts';

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

interface ModelTripsOptions {
  /** How long a trip may take to be billed; undefined where there is no trigger to do it. */
  readonly billedWithinMs: number | undefined;
  /** How long a write that is answered `unavailable` is repeated. */
  readonly confirmedWithinMs: number;
  /** How long what was buffered may take to be readable. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly differences: Differences;
}

/**
 * Writes two trips, waits until the trigger has billed them, and returns the lines of a table that shows them as the
 * rows and versions they are. Compares what was acknowledged, and reports any other outcome.
 */
export async function showModelTrips(store: DemoStore, options: ModelTripsOptions): Promise<readonly string[]> {
  const { billedWithinMs, signal, differences } = options;
  const rows: string[][] = [['', 'row key', 'column', 'ref key', 'body', '']];
  const unwritten = new Set<NewCell>();
  for (const cells of Object.values(TRIPS))
    for (const cell of await notConfirmed(store, cells, options)) unwritten.add(cell);
  for (const [name, cells] of Object.entries(TRIPS)) {
    const columns = [...Map.groupBy(cells, ({ column_name }) => column_name)];
    const written = columns.filter(([, ofColumn]) => !ofColumn.some((cell) => unwritten.has(cell)));
    await checkVersions(
      store,
      written.map(([, ofColumn]) => ofColumn),
      { ...options, concurrency: 1 },
    );
    const row_key = cells[0]?.row_key ?? '';
    const versionsOf = async (column_name: string): Promise<readonly Cell[]> =>
      (await persist(signal, () => store.versions({ row_key, column_name }, { order: 'asc' }))).cells;
    const isBilled = async (): Promise<boolean> =>
      Object((await versionsOf('STATUS')).at(-1)?.body).is_completed === true;
    const isToBeBilled = billedWithinMs !== undefined && written.some(([column]) => column === 'BASE');
    if (isToBeBilled) {
      if (await comes(isBilled, { pollMs: 100, patienceMs: billedWithinMs, signal })) differences.pass();
      else differences.fail(`${row_key}/STATUS`, `${name} was not billed in time`);
    }
    for (const column of [...columns.map(([column_name]) => column_name), ...(isToBeBilled ? ['STATUS'] : [])])
      rows.push(...rowsOf(name, await versionsOf(column)));
  }
  return textTable(rows, [3]);
}

/** Writes the cells of a trip. Returns those that were not acknowledged. */
async function notConfirmed(
  store: DemoStore,
  cells: readonly NewCell[],
  { confirmedWithinMs: withinMs, signal, differences }: ModelTripsOptions,
): Promise<readonly NewCell[]> {
  const unwritten: NewCell[] = [];
  const answered = (cell: NewCell, result: PutResult): void => {
    const why = notWritten(result, withinMs);
    if (why === undefined) return;
    differences.fail(cell, why);
    unwritten.push(cell);
  };
  const send = (left: readonly NewCell[]): Promise<readonly PutResult[]> => persist(signal, () => store.batchPut(left));
  await writeUntilConfirmed(cells, { send, answered, withinMs, signal });
  return unwritten;
}

function rowsOf(name: string, versions: readonly Cell[]): string[][] {
  return versions.map(({ row_key, column_name, ref_key, body }, position) => {
    const text = JSON.stringify(body);
    const shown = text.length > 56 ? `${text.slice(0, 55)}…` : text;
    const isLatest = position === versions.length - 1;
    return [name, `${row_key.slice(0, 8)}…`, column_name, String(ref_key), shown, isLatest ? 'latest' : ''];
  });
}
