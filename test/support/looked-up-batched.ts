import { isDeepStrictEqual } from 'node:util';
import type { CellKey } from '../../shared/cell.ts';
import type { Datastore, Found, StoreReadOptions } from '../../shared/contract/datastore.ts';
import type { LookedUp, LookUps } from '../../shared/store/look-ups.ts';

/** Looks many cells up. Returns the result of each, in order. */
export async function lookedUp(
  store: LookUps,
  keys: readonly CellKey[],
  options: StoreReadOptions = {},
): Promise<readonly LookedUp[]> {
  const found: LookedUp[] = [];
  let told = 0;
  await store.findEach(keys, options, (position, one) => {
    found[position] = one;
    told += 1;
  });
  if (told !== keys.length) throw new Error(`told ${told} times of ${keys.length} look-ups`);
  return found;
}

/** Returns the single look-ups of a datastore, each batched with others, for the conformance suite. */
export function lookedUpBatched(store: LookUps): Pick<Datastore, 'get' | 'getLatest'> {
  async function among(key: CellKey, options: StoreReadOptions = {}): Promise<Found> {
    const other: CellKey = { ...key, column_name: 'OTHER' };
    const [first, , last] = await lookedUp(store, [key, other, key], options);
    for (const one of [first, last]) if (one && 'error' in one) throw one.error;
    if (!isDeepStrictEqual(first, last)) throw new Error('two answers to one look-up');
    return last as Found;
  }
  return { get: among, getLatest: among };
}
