import type { CellKey } from '../cell.ts';
import type { Datastore, Found, ReadOptions } from '../contract/datastore.ts';

/** What became of one of many look-ups: what `get` gives, or throws. */
export type LookedUp = Found | { readonly error: unknown };

/** Look-ups of cells that came together. */
export interface LookUps {
  /**
   * Finds cells as `get` finds them, and `getLatest` where a key has no ref key; each group is asked once.
   *
   * @param keys up to LIMITS.batchCells
   * @param tell told of each key by its place, once, as soon as its group has answered; must not throw
   * @returns once all are told; rejects with what is wrong with all of them: none was told of then
   */
  findEach(
    keys: readonly CellKey[],
    options: ReadOptions,
    tell: (position: number, found: LookedUp) => void,
  ): Promise<void>;
}

type SingleLookUps = Pick<Datastore, 'get' | 'getLatest'>;

/** Finds one cell. */
export function findOne(
  reads: SingleLookUps,
  { row_key, column_name, ref_key }: CellKey,
  options: ReadOptions,
): Promise<Found> {
  return ref_key === undefined
    ? reads.getLatest({ row_key, column_name }, options)
    : reads.get({ row_key, column_name, ref_key }, options);
}

/** Finds cells one by one, for datastores that have no other way. */
export function oneByOne(reads: SingleLookUps): LookUps {
  return {
    findEach: async (keys, options, tell) =>
      void (await Promise.all(
        keys.map((key, position) => told(findOne(reads, key, options), (found) => tell(position, found))),
      )),
  };
}

/** Tells what comes of a look-up; does not reject. */
export function told(finding: Promise<Found>, tell: (found: LookedUp) => void): Promise<void> {
  return finding.catch((error: unknown) => ({ error })).then(tell);
}
