import type { CellKey } from '../cell.ts';
import type { Datastore, Found, ReadOptions } from '../contract/datastore.ts';

/** A cell by its address, or the latest one of its column; what it must have seen is said of all of them. */
export type LookUpKey = Omit<CellKey, 'min_added_id'>;

/** What became of one of many look-ups: what `get` gives, or throws. */
export type LookedUp = Found | { readonly error: unknown };

/** Look-ups of cells that came together. */
export interface LookUps {
  /**
   * Finds cells as `get` finds them, and `getLatest` where a key has no ref key, with one statement a group. Those that
   * need another, of a shard that was moved or a cell that was erased, hold up none but themselves.
   *
   * @param keys up to LIMITS.batchCells
   * @param tell told of each key by its place, once, as soon as its group has answered; must not throw
   * @returns once all are told; rejects with what is wrong with all of them: none was told of then
   */
  findEach(
    keys: readonly LookUpKey[],
    options: ReadOptions,
    tell: (position: number, found: LookedUp) => void,
  ): Promise<void>;
}

export function findOne(
  reads: Pick<Datastore, 'get' | 'getLatest'>,
  { row_key, column_name, ref_key }: LookUpKey,
  options: ReadOptions,
): Promise<Found> {
  return ref_key === undefined
    ? reads.getLatest({ row_key, column_name }, options)
    : reads.get({ row_key, column_name, ref_key }, options);
}

/** Tells what comes of a look-up. Rejects with what `tell` throws alone. */
export function told(finding: Promise<Found>, tell: (found: LookedUp) => void): Promise<void> {
  return finding.catch((error: unknown) => ({ error })).then(tell);
}
