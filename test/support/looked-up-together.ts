import { isDeepStrictEqual } from 'node:util';
import type { CellKey } from '../../shared/cell.ts';
import type { Datastore, Found, ReadOptions } from '../../shared/contract/datastore.ts';
import type { LookedUp, LookUps } from '../../shared/store/look-ups.ts';

/** What a look-up of many tells of each, in order. */
export async function lookedUp(
  store: LookUps,
  keys: readonly CellKey[],
  options: ReadOptions = {},
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

/** The single look-ups of a datastore, each done among others: for the suite that says what they have to do. */
export function lookedUpTogether(store: LookUps): Pick<Datastore, 'get' | 'getLatest'> {
  async function among(key: CellKey, options: ReadOptions = {}): Promise<Found> {
    const other: CellKey = { ...key, column_name: 'OTHER' };
    const [first, , last] = await lookedUp(store, [key, other, key], options);
    for (const one of [first, last]) if (one && 'error' in one) throw one.error;
    if (!isDeepStrictEqual(first, last)) throw new Error('two answers to one look-up');
    return last as Found;
  }
  return { get: among, getLatest: among };
}
