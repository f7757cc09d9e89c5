import type { CellKey } from '../cell.ts';
import type { Datastore, Found, StoreReadOptions } from '../contract/datastore.ts';

export type LookUpKey = Omit<CellKey, 'min_added_id'>;

/** The result of `get`, or the error that it throws. */
export type LookedUp = Found | { readonly error: unknown };

export interface LookUps {
  /**
   * Finds cells as `get` and `getLatest` do, one statement a group. A key that needs another statement holds up only
   * itself. `keys`: up to LIMITS.batchCells. `tell`: called once for each key, as soon as its group answered; must not
   * throw. Returns once all are told; rejects, without telling any, if the whole request is bad.
   */
  findEach(
    keys: readonly LookUpKey[],
    options: StoreReadOptions,
    tell: (position: number, found: LookedUp) => void,
  ): Promise<void>;
}

export function findOne(
  reads: Pick<Datastore, 'get' | 'getLatest'>,
  { row_key, column_name, ref_key }: LookUpKey,
  options: StoreReadOptions,
): Promise<Found> {
  return ref_key === undefined
    ? reads.getLatest({ row_key, column_name }, options)
    : reads.get({ row_key, column_name, ref_key }, options);
}

/** Tells the outcome of a look-up. Rejects only with what `tell` throws. */
export function told(finding: Promise<Found>, tell: (found: LookedUp) => void): Promise<void> {
  return finding.catch((error: unknown) => ({ error })).then(tell);
}
