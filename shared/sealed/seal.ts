import type { Seal, StoredDatastore } from '../store/deployment.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { KeyStore } from './key-store.ts';

/** Seals datastores under keys that are kept here. Nothing more of this room is loaded before one is to be sealed. */
export function sealUnder(topology: TopologySource, keys: KeyStore): Seal {
  let opened: Promise<(stored: StoredDatastore) => StoredDatastore> | undefined;
  return async (stored) => {
    opened ??= import('./sealed-datastores.ts').then(({ sealedDatastores }) => sealedDatastores(topology, keys));
    return (await opened)(stored);
  };
}
