import { Random } from '../../support/random.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { rowKeyIn, shardsOf } from './group-shards.ts';

export interface Refused {
  readonly tried: number;
  readonly accepted: number;
}

const PUTS = 300;

/** Puts to a group that is down, of a store that writes to primaries only. */
export async function refusedWithoutBuffer(access: StoreAccess, group: string, seed: string): Promise<Refused> {
  await using store = await openStore({ ...access, bufferCopies: 0 });
  const shards = await shardsOf(store.datastore, group);
  const random = new Random(seed, 'refused', 0);
  let accepted = 0;
  for (let tried = 0; tried < PUTS; tried += 1) {
    const { outcome } = await store.datastore.put({
      row_key: rowKeyIn(random, shards, store.datastore.shards),
      column_name: 'BASE',
      ref_key: 1,
      body: { tried },
    });
    if (outcome !== 'unavailable') accepted += 1;
  }
  return { tried: PUTS, accepted };
}
