import type { Seal, StoredDatastore } from '../store/deployment.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { KeyStore } from './key-store.ts';

/** Seals datastores under these keys. Loads the rest of this folder only with the first datastore to seal. */
export function sealUnder(topology: TopologySource, keys: KeyStore): Seal {
  let opened: Promise<(stored: StoredDatastore) => StoredDatastore> | undefined;
  return async (stored) => {
    opened ??= import('./sealed-datastores.ts').then(({ sealedDatastores }) => sealedDatastores(topology, keys));
    return (await opened)(stored);
  };
}
