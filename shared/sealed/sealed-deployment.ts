import type { TopologySource } from '../topology/topology.ts';
import type { Deployment } from '../store/deployment.ts';
import type { KeyStore } from './key-store.ts';
import type { StoredDatastore } from './sealed-parts.ts';

/**
 * A deployment whose datastores seal what their definitions say, before the store sees it, and open what they read. A
 * datastore that seals nothing is the deployment's own, and nothing of this room is loaded for it.
 */
export function sealedDeployment(deployment: Deployment, topology: TopologySource, keys: KeyStore): Deployment {
  let opened: Promise<(stored: StoredDatastore) => StoredDatastore> | undefined;
  return {
    ...deployment,
    async datastore(name) {
      const stored = await deployment.datastore(name);
      if (!(await topology.datastore(name))?.sealed) return stored;
      opened ??= import('./sealed-datastores.ts').then(({ sealedDatastores }) => sealedDatastores(topology, keys));
      return (await opened)(stored);
    },
  };
}
