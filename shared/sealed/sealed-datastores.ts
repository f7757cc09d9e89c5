import type { SealedFields } from '../definitions/definitions.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { TopologySource } from '../topology/topology.ts';
import { datastoreKeyring, type DatastoreKeyring } from './datastore-keys.ts';
import { overKeys, type KeyStore } from './key-store.ts';
import type { Sealing } from './seal-cells.ts';
import type { StoredDatastore } from '../store/deployment.ts';
import { sealedPaths, type SealedPaths } from './sealed-paths.ts';
import { sealedReads } from './sealed-reads.ts';
import { sealedWrites } from './sealed-writes.ts';
import { SubjectKeyring } from './subject-keyring.ts';

/** Seals writes to datastores and opens reads; holds an instance's keys. Wraps each datastore once. */
export function sealedDatastores(
  topology: TopologySource,
  keys: KeyStore,
): (stored: StoredDatastore) => StoredDatastore {
  const keyring = datastoreKeyring(keys);
  const sealings = new Map<string, Sealing>();
  const over = new WeakMap<StoredDatastore, StoredDatastore>();

  function sealingOf(name: string, find: DatastoreKeyring['known']): Promise<Sealing | undefined> {
    return overKeys(async () => {
      const ofDatastore = await find(name);
      if (!ofDatastore) return undefined;
      const sealing = sealings.get(name) ?? { keys: ofDatastore, subjects: new SubjectKeyring(keys, ofDatastore) };
      sealings.set(name, sealing);
      return sealing;
    });
  }

  return (stored) => {
    const before = over.get(stored);
    if (before) return before;
    const { name } = stored;
    const parts = {
      paths: pathsNow(topology, name),
      async made() {
        const sealing = await sealingOf(name, keyring.made);
        if (!sealing) throw new Error(`${name}: without keys that were to be made`);
        return sealing;
      },
      known: () => sealings.get(name) ?? sealingOf(name, keyring.known),
    };
    const sealed = { ...stored, ...sealedWrites(stored, parts), ...sealedReads(stored, parts) };
    over.set(stored, sealed);
    return sealed;
  };
}

/** Returns the sealed paths as now known; recomputes them if the definitions changed. */
function pathsNow(topology: TopologySource, name: string): () => Promise<SealedPaths> {
  let last: { sealed: readonly SealedFields[]; indexes: readonly IndexCatalogue[]; paths: SealedPaths } | undefined;
  return async () => {
    const sealed = (await topology.datastore(name))?.sealed ?? [];
    const indexes = await topology.indexes(name);
    if (last?.sealed !== sealed || last.indexes !== indexes)
      last = { sealed, indexes, paths: sealedPaths(sealed, indexes) };
    return last.paths;
  };
}
