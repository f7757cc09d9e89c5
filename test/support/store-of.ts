import type { SchemalessClient } from '../../shared/client/client.ts';
import { confirmed } from '../../shared/confirmed.ts';
import type { PutResult } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';

/** Returns a client as a datastore, whose puts return every outcome. */
export function storeOf<Client extends Pick<SchemalessClient, 'put' | 'tryPut'>>(
  client: Client,
): Omit<Client, 'put'> & Pick<Datastore, 'put'> {
  return {
    ...client,
    async put(cell) {
      const { ref_key: _, ...result } = await client.tryPut(cell);
      return result as PutResult;
    },
  };
}

/** Returns a datastore with a client's `put`, for cells with ref keys. */
export function confirming<Store extends Pick<Datastore, 'put'>>(
  store: Store,
): Omit<Store, 'put'> & Pick<SchemalessClient, 'put'> {
  return {
    ...store,
    async put({ ref_key = 0, ...cell }) {
      const address = { ...cell, ref_key };
      return { ...confirmed(address, await store.put(address)), ref_key };
    },
  };
}
