import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cell, Json, NewCell, PutResult } from '../../shared/cell.ts';
import { refKeys } from './check-versions.ts';
import { notWritten, writeUntilConfirmed } from './confirm.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import type { Differences } from './differences.ts';
import { persist } from '../support/persist.ts';
import { textTable } from '../support/text-table.ts';
import { identity } from '../support/trips/identity.ts';

const LOOK_MS = 100;

const driver_partner_uuid = identity('driver/0');
const city_uuid = identity('city/Manhattan');

/**
 * Trip 1 has a card that declines once, so that it is billed at the second attempt; trip 2 was corrected once, and
 * somebody wrote a note.
 */
const TRIPS: readonly {
  readonly name: string;
  readonly row_key: string;
  readonly cells: readonly (readonly [string, number, Json])[];
}[] = [
  {
    name: 'trip 1',
    row_key: identity('model trip/15'),
    cells: [
      [
        'BASE',
        1,
        { fare: { total: 24.2, currency: 'USD' }, from: 'Midtown', to: 'JFK', driver_partner_uuid, city_uuid },
      ],
    ],
  },
  {
    name: 'trip 2',
    row_key: identity('model trip/2'),
    cells: [
      [
        'BASE',
        1,
        { fare: { total: 11.75, currency: 'USD' }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid },
      ],
      [
        'BASE',
        2,
        { fare: { total: 9.5, currency: 'USD' }, from: 'SoHo', to: 'Chelsea', driver_partner_uuid, city_uuid },
      ],
      ['NOTES', 1, { rating: 5, text: 'Très bon chauffeur 👍' }],
    ],
  },
];

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

interface Column {
  readonly row_key: string;
  readonly column_name: string;
}

/**
 * Writes two trips, waits until the trigger has billed them, and returns the lines of a table that shows them as the
 * rows and versions they are. Compared is what was acknowledged: any other outcome is reported as that.
 */
export async function showModelTrips(store: DemoStore, options: ModelTripsOptions): Promise<readonly string[]> {
  const { billedWithinMs, signal, differences } = options;
  const rows: string[][] = [['', 'row key', 'column', 'ref key', 'body', '']];
  const results = new Map<NewCell, PutResult>();
  const trips = TRIPS.map(({ name, row_key, cells }) => ({ name, row_key, cells: toNewCells(row_key, cells) }));
  for (const { cells } of trips) await writeTrip(store, cells, results, options);
  for (const { name, row_key, cells } of trips) {
    const show = (versions: readonly Cell[]): void => {
      for (const [position, { column_name, ref_key, body }] of versions.entries()) {
        rows.push([
          name,
          `${row_key.slice(0, 8)}…`,
          column_name,
          String(ref_key),
          abbreviated(body),
          position === versions.length - 1 ? 'latest' : '',
        ]);
      }
    };
    for (const [column_name, ofColumn] of Map.groupBy(cells, (cell) => cell.column_name)) {
      const outcomes = new Set(ofColumn.map((cell) => results.get(cell)?.outcome));
      const mayDiffer = outcomes.has('conflict') || outcomes.has('unavailable');
      const { versions, wrong } = await compareColumn(store, { row_key, column_name }, ofColumn, {
        ...options,
        isBuffered: outcomes.has('buffered'),
      });
      if (wrong === undefined) differences.pass();
      else if (!mayDiffer) differences.fail(`${row_key}/${column_name}`, wrong);
      show(versions);
    }
    const isWritten = cells.some(
      (cell) => cell.column_name === 'BASE' && hasOutcome(results.get(cell), ['stored', 'stored_before', 'buffered']),
    );
    if (billedWithinMs === undefined || !isWritten) continue;
    const status = await billed(store, row_key, billedWithinMs, signal);
    if (Object(status.at(-1)?.body).is_completed === true) differences.pass();
    else differences.fail(`${row_key}/STATUS`, `${name} was not billed in time`);
    show(status);
  }
  return textTable(rows, [3]);
}

/** Writes the cells of a trip, and keeps what became of each. */
function writeTrip(
  store: DemoStore,
  cells: readonly NewCell[],
  results: Map<NewCell, PutResult>,
  { confirmedWithinMs: withinMs, signal, differences }: ModelTripsOptions,
): Promise<void> {
  return writeUntilConfirmed(cells, {
    send: (left) => persist(signal, () => store.batchPut(left)),
    answered: (cell, result) => {
      results.set(cell, result);
      const why = notWritten(result, withinMs);
      if (why !== undefined) differences.fail(cell, why);
    },
    withinMs,
    signal,
  });
}

function hasOutcome(result: PutResult | undefined, wanted: readonly PutResult['outcome'][]): boolean {
  return result !== undefined && wanted.includes(result.outcome);
}

/**
 * A column's cells, and what is wrong with them; asked for again while some are buffered, or a reader answers for a
 * writer that is down.
 */
async function compareColumn(
  store: DemoStore,
  column: Column,
  wanted: readonly NewCell[],
  {
    isBuffered,
    patienceMs,
    signal,
  }: Pick<ModelTripsOptions, 'patienceMs' | 'signal'> & { readonly isBuffered: boolean },
): Promise<{ readonly versions: readonly Cell[]; readonly wrong: string | undefined }> {
  for (const end = Date.now() + patienceMs; ;) {
    const { cells: versions, stale } = await persist(signal, () => store.versions(column, { order: 'asc' }));
    const { cell: latest, stale: isLatestStale } = await persist(signal, () => store.getLatest(column));
    const got = versions.map(({ ref_key, body }) => ({ ...column, ref_key, body }));
    if (isDeepStrictEqual(got, wanted) && latest?.ref_key === got.at(-1)?.ref_key)
      return { versions, wrong: undefined };
    if ((!isBuffered && !stale && !isLatestStale) || Date.now() > end) {
      const why = isBuffered
        ? `; answered buffered, and not readable after ${patienceMs / 1000} s`
        : stale
          ? ', from a reader that may be behind'
          : '';
      return { versions, wrong: `wanted ref keys ${refKeys(wanted)}, got ${refKeys(got)}${why}` };
    }
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** The STATUS cells of a trip once it is billed, else once there was time. */
async function billed(
  store: DemoStore,
  row_key: string,
  withinMs: number,
  signal: AbortSignal,
): Promise<readonly Cell[]> {
  for (const end = Date.now() + withinMs; ;) {
    const status = await versionsOf(store, { row_key, column_name: 'STATUS' }, signal);
    if (Object(status.at(-1)?.body).is_completed === true || Date.now() > end) return status;
    await sleep(LOOK_MS, undefined, { signal });
  }
}

async function versionsOf(store: DemoStore, column: Column, signal: AbortSignal): Promise<readonly Cell[]> {
  return (await persist(signal, () => store.versions(column, { order: 'asc' }))).cells;
}

function toNewCells(row_key: string, cells: readonly (readonly [string, number, Json])[]): readonly NewCell[] {
  return cells.map(([column_name, ref_key, body]) => ({ row_key, column_name, ref_key, body }));
}

function abbreviated(body: Json): string {
  const text = JSON.stringify(body);
  return text.length > 56 ? `${text.slice(0, 55)}…` : text;
}
