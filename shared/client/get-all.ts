import { parseKey } from '../address.ts';
import { LIMITS, type CellKey, type Role } from '../cell.ts';
import type { BatchItem } from '../contract/datastore.ts';
import { sideBySide } from '../side-by-side.ts';
import { slicesOf } from '../slices-of.ts';
import { TRIES } from './batch-writer.ts';
import type { SchemalessClient } from './client.ts';
import { ofClient, type OfClient } from './of-client.ts';
import { asError } from './problem.ts';
import { pauseOrEnd } from './pause.ts';
import { parseConcurrency } from './put-all.ts';

export interface GetAllOptions {
  /** @default 'writer' */
  readonly read?: Role | undefined;
  /** Returns sealed fields as stored. @default false */
  readonly sealed?: boolean | undefined;
  /** Batches under way at once, 1 to 64. @default 4 */
  readonly concurrency?: number | undefined;
  /** Ends it: keys not read by then have that as their error. */
  readonly signal?: AbortSignal | undefined;
  /** Attempts for an item that cannot be answered now, with pauses of up to two seconds. @default 10 */
  readonly tries?: number | undefined;
}

type Batches = Pick<SchemalessClient, 'batchGet' | 'with'>;

/**
 * Reads any number of cells, or of latest cells, in batches, and retries items that cannot be answered now. Returns, in
 * the order of the keys, the cell, null if there is none, or `{ error }`. Throws SchemalessError `invalid_field` for a
 * key or a `concurrency`, before any read.
 */
export async function getAll<Client>(
  given: OfClient<Client, Batches>,
  keys: readonly CellKey[],
  { read, sealed, concurrency, signal, tries = TRIES }: GetAllOptions = {},
): Promise<readonly BatchItem[]> {
  const client = ofClient<Batches>(given, 'getAll');
  const bounded = signal === undefined ? client : client.with({ signal });
  const parsed = keys.map((key, position) => parseKey(key, `keys[${position}].`));
  const items: BatchItem[] = keys.map(() => null);

  /** Returns the positions to read again. */
  async function readSome(positions: readonly number[]): Promise<readonly number[]> {
    const asked = positions.map((position) => parsed[position] as CellKey);
    try {
      const got = await bounded.batchGet(asked, { read, sealed });
      positions.forEach((position, at) => (items[position] = got[at] ?? null));
    } catch (thrown) {
      const error = asError(thrown, 'It was not read');
      for (const position of positions) items[position] = { error };
    }
    return positions.filter((position) => isWorthAsking(items[position]));
  }

  async function readUntilTold(first: readonly number[]): Promise<void> {
    let left = first;
    for (let tried = 1; left.length > 0;) {
      const again = await readSome(left);
      // After partial success, the others may be read without a pause.
      if (again.length === left.length) {
        if (tried >= tries || !(await pauseOrEnd(tried, signal))) return;
        tried += 1;
      }
      left = again;
    }
  }

  const batches = slicesOf([...keys.keys()], LIMITS.batchCells);
  await sideBySide(batches, readUntilTold, parseConcurrency(concurrency));
  return items;
}

function isWorthAsking(item: BatchItem | undefined): boolean {
  if (item === null || item === undefined || 'row_key' in item) return false;
  return item.error.retry === 'later' || item.error.code === 'answer_too_large';
}
