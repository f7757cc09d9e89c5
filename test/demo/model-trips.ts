import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cell, Json, NewCell } from '../../shared/cell.ts';
import type { DemoStore } from './demo-store.ts';
import type { Differences } from './differences.ts';
import { persist } from './persist.ts';
import { textTable } from './text-table.ts';
import { identity } from './trips/identity.ts';

const driver_partner_uuid = identity('driver/0');
const city_uuid = identity('city/Manhattan');

/** Trip 1 has a card that declines once, so that it is billed at the second attempt; trip 2 was corrected once, and somebody wrote a note. */
const TRIPS: readonly { readonly name: string; readonly row_key: string; readonly cells: readonly (readonly [string, number, Json])[] }[] = [
  {
    name: 'trip 1',
    row_key: identity('model trip/15'),
    cells: [['BASE', 1, { fare: { total: 24.2, currency: 'USD' }, from: 'Midtown', to: 'JFK', driver_partner_uuid, city_uuid }]],
  },
  {
    name: 'trip 2',
    row_key: identity('model trip/2'),
    cells: [
      ['BASE', 1, { fare: { total: 11.75, currency: 'USD' }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid }],
      ['BASE', 2, { fare: { total: 9.5, currency: 'USD' }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid }],
      ['NOTES', 1, { rating: 5, text: 'Très bon chauffeur 👍' }],
    ],
  },
];

interface ModelTripsOptions {
  /** How long a trip may take to be billed; undefined where there is no trigger to do it. */
  readonly billedWithinMs: number | undefined;
  readonly signal: AbortSignal;
  readonly differences: Differences;
}

/**
 * Writes two trips, waits until the trigger has billed them, and returns the lines of a table that shows them as the rows
 * and versions they are.
 */
export async function showModelTrips(store: DemoStore, { billedWithinMs, signal, differences }: ModelTripsOptions): Promise<readonly string[]> {
  const rows: string[][] = [['', 'row key', 'column', 'ref key', 'body', '']];
  for (const { row_key, cells } of TRIPS) await persist(signal, () => store.batchPut(toNewCells(row_key, cells)));
  for (const { name, row_key, cells } of TRIPS) {
    const newCells = toNewCells(row_key, cells);
    const show = (versions: readonly Cell[]): void => {
      for (const [place, { column_name, ref_key, body }] of versions.entries()) {
        rows.push([name, `${row_key.slice(0, 8)}…`, column_name, String(ref_key), abbreviated(body), place === versions.length - 1 ? 'latest' : '']);
      }
    };
    for (const column_name of new Set(newCells.map((cell) => cell.column_name))) {
      const versions = await versionsOf(store, { row_key, column_name }, signal);
      const { cell: latest } = await persist(signal, () => store.getLatest({ row_key, column_name }));
      const got = versions.map(({ ref_key, body }) => ({ row_key, column_name, ref_key, body }));
      const asWritten = isDeepStrictEqual(got, newCells.filter((cell) => cell.column_name === column_name)) && latest?.ref_key === got.at(-1)?.ref_key;
      if (asWritten) differences.pass();
      else differences.fail(`${row_key}/${column_name}`, `wanted the cells just written, got ${got.length} others`);
      show(versions);
    }
    if (billedWithinMs === undefined) continue;
    const status = await billed(store, row_key, billedWithinMs, signal);
    if (Object(status.at(-1)?.body).is_completed === true) differences.pass();
    else differences.fail(`${row_key}/STATUS`, `${name} was not billed in time`);
    show(status);
  }
  return textTable(rows, [3]);
}

/** The STATUS cells of a trip once it is billed, else once there was time. */
async function billed(store: DemoStore, row_key: string, withinMs: number, signal: AbortSignal): Promise<readonly Cell[]> {
  for (const end = Date.now() + withinMs; ; ) {
    const status = await versionsOf(store, { row_key, column_name: 'STATUS' }, signal);
    if (Object(status.at(-1)?.body).is_completed === true || Date.now() > end) return status;
    await sleep(100, undefined, { signal });
  }
}

async function versionsOf(store: DemoStore, column: { readonly row_key: string; readonly column_name: string }, signal: AbortSignal): Promise<readonly Cell[]> {
  return (await persist(signal, () => store.versions(column, { order: 'asc' }))).cells;
}

function toNewCells(row_key: string, cells: readonly (readonly [string, number, Json])[]): readonly NewCell[] {
  return cells.map(([column_name, ref_key, body]) => ({ row_key, column_name, ref_key, body }));
}

function abbreviated(body: Json): string {
  const text = JSON.stringify(body);
  return text.length > 56 ? `${text.slice(0, 55)}…` : text;
}
