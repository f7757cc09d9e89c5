import { SchemalessError } from '../../../shared/errors.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import {
  DRIVER_INDEX,
  numberedDriver,
  numberedRowKey,
  numberedTrip,
  TRIPS_A_DRIVER,
} from '../growth/numbered-trips.ts';

export interface MixedWork {
  /** Operations that the store refused for now. */
  readonly refused: number;
  /** Answers that cannot be right. */
  readonly wrong: number;
  /** One operation. Returns whether it was done; never rejects for what the store refused. */
  once(): Promise<boolean>;
}

/** Of 10 operations; the rest are reads of whole rows. */
const PUTS = 4;
const GETS = 4;
const QUERIES = 1;

/**
 * Puts of new trips, latest gets and row gets of any of them, and queries of a driver's twenty with their cells: what
 * one operation has to do stays the same however many trips there are.
 *
 * @param written trips that are there already
 */
export function mixedWork(
  datastore: Datastore,
  { seed, written }: { readonly seed: string; readonly written: number },
): MixedWork {
  const random = new Random(seed, 'mixed work', 0);
  const { name } = datastore;
  /** Trips that are being written, or were refused and come again with the next put. */
  const pending = new Set<number>();
  const again: number[] = [];
  let [next, refused, wrong] = [written, 0, 0];

  /** A trip that is there. */
  function anyTrip(): number {
    for (;;) {
      const number = random.integer(0, next - 1);
      if (!pending.has(number)) return number;
    }
  }

  async function put(): Promise<boolean> {
    const number = again.pop() ?? next++;
    pending.add(number);
    try {
      const { outcome } = await datastore.put(numberedTrip(name, number));
      if (outcome === 'stored' || outcome === 'stored_before') pending.delete(number);
    } finally {
      if (pending.has(number)) again.push(number);
    }
    return !pending.has(number);
  }

  async function query(): Promise<void> {
    const number = anyTrip();
    const first = number - (number % TRIPS_A_DRIVER);
    const known = Array.from({ length: TRIPS_A_DRIVER }, (_, position) => first + position).filter(
      (trip) => trip < next && !pending.has(trip),
    ).length;
    const { entries } = await datastore.query({
      index: DRIVER_INDEX.name,
      where: [{ field: 'driver_uuid', operator: 'eq', values: [numberedDriver(name, number)] }],
      columns: ['BASE'],
      limit: TRIPS_A_DRIVER,
    });
    if (entries.length < known) wrong += 1;
  }

  async function read(): Promise<void> {
    const { cell } = await datastore.getLatest({ row_key: numberedRowKey(name, anyTrip()), column_name: 'BASE' });
    if (!cell) wrong += 1;
  }

  async function readRow(): Promise<void> {
    const { cells } = await datastore.row(numberedRowKey(name, anyTrip()));
    if (cells.length !== 1) wrong += 1;
  }

  async function operate(): Promise<boolean> {
    const kind = random.integer(0, 9);
    if (kind < PUTS) return put();
    await (kind < PUTS + GETS ? read() : kind < PUTS + GETS + QUERIES ? query() : readRow());
    return true;
  }

  return {
    get refused() {
      return refused;
    },
    get wrong() {
      return wrong;
    },
    async once() {
      try {
        if (await operate()) return true;
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.retry !== 'later') throw error;
      }
      refused += 1;
      return false;
    },
  };
}
