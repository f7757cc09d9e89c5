import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, NewCell, PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { baseBody } from '../../support/trips/body.ts';

/** The operations common to the library and the HTTP client. */
export type Store = Pick<Datastore, 'put' | 'getLatest' | 'row' | 'batchPut' | 'batchGet' | 'query'>;

interface Operation {
  readonly what: string;
  /** Concurrent calls. @default 32 */
  readonly atOnce?: number;
  /** The least rate through HTTP, as a share of the library's rate. @default 0.5 */
  readonly least?: number;
  /** Runs the operation once. Returns its count of units: cells, rows, calls. */
  readonly once: (store: Store) => Promise<number>;
}

const BATCH = 100;
/** The number of rows that are read back. */
const ROWS = 400;
const FOUND = 50;
/** Bodies that trips get in turn: making one takes longer than sending it. */
const BODIES = 100;
const INDEX = 'driver_partner_index';
const ATTEMPTS = 5;
const AGAIN_MS = 100;

/** Trips to write and to read. */
interface Trips {
  /** Returns a cell of a new row. */
  next(): NewCell;
  /** Trips written before the measurement. */
  readonly written: readonly NewCell[];
}

export function anyOf(trips: readonly NewCell[]): NewCell {
  return trips[Math.floor(Math.random() * trips.length)] as NewCell;
}

/**
 * Writes the rows to read, and returns the operations. Trips are those of the demo, some 2 KB of JSON, with the shipped
 * indexes.
 */
export async function prepareOperations(
  store: Store,
  seed: string,
): Promise<{ readonly operations: readonly Operation[]; readonly trips: Trips }> {
  const newTrip = tripMaker(seed);
  const driver = randomUUID();
  const rows = Array.from({ length: ROWS }, (_, position) => newTrip(position < FOUND ? driver : randomUUID()));
  for (let start = 0; start < ROWS; start += BATCH) await putAll(store, rows.slice(start, start + BATCH), isStored);
  const anyRow = (): NewCell => anyOf(rows);
  const anyKey = (): Pick<NewCell, 'row_key' | 'column_name'> => {
    const { row_key, column_name } = anyRow();
    return { row_key, column_name };
  };
  const some = <Item>(make: () => Item): Item[] => Array.from({ length: BATCH }, () => make());
  const ofDriver = { driver_partner_uuid: driver };

  const operations: readonly Operation[] = [
    { what: 'put', once: (to) => putOne(to, newTrip()) },
    // More would overload the servers of one machine: some would be refused.
    {
      what: `batch put of ${BATCH}`,
      atOnce: 1,
      once: (to) => putAll(to, some(newTrip)),
    },
    { what: 'get latest', least: 0.75, once: async (from) => ((await from.getLatest(anyKey())).cell ? 1 : 0) },
    { what: 'get row', once: async (from) => (await from.row(anyRow().row_key)).cells.length },
    {
      what: `batch get of ${BATCH}`,
      once: async (from) => (await from.batchGet(some(anyKey))).filter((item) => item && 'body' in item).length,
    },
    {
      what: `query of ${FOUND} rows`,
      once: async (from) => (await from.query({ index: INDEX, where: ofDriver, limit: FOUND })).entries.length,
    },
  ];
  return { operations, trips: { next: () => newTrip(), written: rows } };
}

/** Returns a maker of BASE cells of new rows. */
export function tripMaker(seed: string): (driver?: string) => NewCell {
  const bodies: readonly { readonly [field: string]: Json }[] = Array.from({ length: BODIES }, (_, n) =>
    baseBody(seed, n, 'usual'),
  );
  let made = 0;
  return (driver = randomUUID()) => {
    made += 1;
    return {
      row_key: randomUUID(),
      column_name: 'BASE',
      ref_key: 1,
      body: { ...bodies[made % BODIES], driver_partner_uuid: driver },
    };
  };
}

export async function putOne(store: Store, cell: NewCell): Promise<number> {
  await untilDone(async () => [await store.put(cell)], isKept);
  return 1;
}

async function putAll(store: Store, cells: readonly NewCell[], isDone = isKept): Promise<number> {
  await untilDone(() => store.batchPut(cells), isDone);
  return cells.length;
}

/**
 * Retries the cells that a busy machine did not store, which changes no existing cell: the library does not retry by
 * itself, unlike the client.
 */
async function untilDone(
  write: () => Promise<readonly PutResult[]>,
  isDone: (result: PutResult) => boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const results = await write().catch((error: unknown) => {
      if (error instanceof SchemalessError && error.retry === 'later' && attempt < ATTEMPTS) return undefined;
      throw error;
    });
    const other = results?.find((result) => !isDone(result));
    if (results && !other) return;
    if (attempt >= ATTEMPTS) throw new Error(`a cell was answered ${JSON.stringify(other)}, ${ATTEMPTS} times`);
    await sleep(AGAIN_MS);
  }
}

/** The client retries puts that were not answered in time: they may have been stored before. */
function isStored({ outcome }: Pick<PutResult, 'outcome'>): boolean {
  return outcome === 'stored' || outcome === 'stored_before';
}

/** Counts a buffered put: it is kept, and took longer than a stored one. */
export function isKept(result: Pick<PutResult, 'outcome'>): boolean {
  return isStored(result) || result.outcome === 'buffered';
}
