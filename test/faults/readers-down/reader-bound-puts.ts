import type { SqlClient } from '../../../shared/sql/client.ts';
import { Random } from '../../support/random.ts';
import { rowKeyIn } from '../outage/group-shards.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';

export interface ReaderBound {
  readonly tried: number;
  readonly stored: number;
}

const PUTS = 100;

/** Puts of a store that takes a write for stored only when a reader can be asked, too. */
export async function putWithReaders(
  access: StoreAccess,
  shards: ReadonlySet<number>,
  seed: string,
): Promise<ReaderBound> {
  await using store = await openStore(access, { wrap: readerBound });
  const random = new Random(seed, 'reader bound', 0);
  let stored = 0;
  for (let tried = 0; tried < PUTS; tried += 1) {
    const { outcome } = await store.datastore.put({
      row_key: rowKeyIn(random, shards, store.datastore.shards),
      column_name: 'BASE',
      ref_key: 1,
      body: { tried },
    });
    if (outcome === 'stored') stored += 1;
  }
  return { tried: PUTS, stored };
}

function readerBound(client: SqlClient): SqlClient {
  return {
    ...client,
    async change(statement) {
      const done = await client.change(statement);
      await client.select({ sql: 'SELECT 1', parameters: [] }, 'reader');
      return done;
    },
  };
}
