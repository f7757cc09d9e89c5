import { isDeepStrictEqual } from 'node:util';
import type { Json, NewCell } from '../../shared/cell.ts';
import type { DemoStore } from './demo-store.ts';
import type { Differences } from './differences.ts';
import { persist } from './persist.ts';
import { textTable } from './text-table.ts';
import { identity } from './trips/identity.ts';

const driver_partner_uuid = identity('driver/0');
const city_uuid = identity('city/Manhattan');

/** Trip 1 was billed at the second attempt; trip 2 was corrected once, and somebody wrote a note. */
const TRIPS: readonly { readonly name: string; readonly row_key: string; readonly cells: readonly (readonly [string, number, Json])[] }[] = [
  {
    name: 'trip 1',
    row_key: identity('model trip/1'),
    cells: [
      ['BASE', 1, { fare: { total: 24.2 }, from: 'Midtown', to: 'JFK', driver_partner_uuid, city_uuid }],
      ['STATUS', 1, { is_completed: false, error: 'card_declined' }],
      ['STATUS', 2, { is_completed: true, receipt: 'R48151623' }],
    ],
  },
  {
    name: 'trip 2',
    row_key: identity('model trip/2'),
    cells: [
      ['BASE', 1, { fare: { total: 11.75 }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid }],
      ['BASE', 2, { fare: { total: 9.5 }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid }],
      ['NOTES', 1, { rating: 5, text: 'Très bon chauffeur 👍' }],
    ],
  },
];

/** Writes two trips, reads them back, and returns the lines of a table that shows them as the rows and versions they are. */
export async function showModelTrips(store: DemoStore, signal: AbortSignal, differences: Differences): Promise<readonly string[]> {
  const rows: string[][] = [['', 'row key', 'column', 'ref key', 'body', '']];
  for (const { name, row_key, cells } of TRIPS) {
    const newCells = cells.map(([column_name, ref_key, body]): NewCell => ({ row_key, column_name, ref_key, body }));
    await persist(signal, () => store.batchPut(newCells));
    for (const column_name of new Set(newCells.map((cell) => cell.column_name))) {
      const { cells: versions } = await persist(signal, () => store.versions({ row_key, column_name }, { order: 'asc' }));
      const { cell: latest } = await persist(signal, () => store.getLatest({ row_key, column_name }));
      const got = versions.map(({ ref_key, body }) => ({ row_key, column_name, ref_key, body }));
      if (isDeepStrictEqual(got, newCells.filter((cell) => cell.column_name === column_name))) differences.pass();
      else differences.fail(`${row_key}/${column_name}`, `wanted the cells just written, got ${got.length} others`);
      for (const cell of versions) {
        const mark = cell.ref_key === latest?.ref_key ? 'latest' : '';
        rows.push([name, `${row_key.slice(0, 8)}…`, column_name, String(cell.ref_key), abbreviated(cell.body), mark]);
      }
    }
  }
  return textTable(rows, [3]);
}

function abbreviated(body: Json): string {
  const text = JSON.stringify(body);
  return text.length > 56 ? `${text.slice(0, 55)}…` : text;
}
