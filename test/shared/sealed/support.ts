import { randomBytes } from 'node:crypto';
import type { IndexDefinition, SealedFields } from '../../../shared/definitions/definitions.ts';
import type { SubjectOperations } from '../../../shared/contract/subject-operations.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import type { StoredDatastore } from '../../../shared/store/deployment.ts';
import { subjectManagement, type SubjectManagement } from '../../../shared/sealed/subject-management.ts';
import { newTable } from '../../support/dynamo.ts';
import { openRealStore, type RealStore, type RealStoreOptions } from '../../support/real-store.ts';

/** One cell may hold several subjects. */
export const SEALED: readonly SealedFields[] = [
  { column: 'BASE', subject: 'rider_uuid', fields: ['rider_name', 'rider.phone', 'rider_email'] },
  { column: 'BASE', subject: 'driver_uuid', fields: ['driver_note'] },
];

/** A datastore with sealed fields, on real servers, as an instance has it, and whoever forgets its subjects. */
export interface SealedStore {
  readonly store: RealStore;
  readonly name: string;
  /** Sealed. */
  readonly trips: StoredDatastore;
  /** As it is stored. */
  readonly stored: StoredDatastore;
  readonly keysTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly keys: KeyStore;
  readonly management: SubjectManagement;
  readonly subjects: SubjectOperations;
  /** As another instance has it, which knows no key yet. */
  another(): Promise<StoredDatastore>;
}

export async function openSealed(
  options: Omit<RealStoreOptions, 'datastores' | 'indexes' | 'sealed'> & {
    readonly indexes?: readonly IndexDefinition[];
    readonly sealed?: readonly SealedFields[];
    readonly shards?: number;
  } = {},
): Promise<SealedStore> {
  const { indexes = [], sealed = SEALED, shards = 4, ...more } = options;
  const store = await openRealStore({
    ...more,
    datastores: { sealed: shards, open: 1 },
    indexes: { sealed: indexes },
    sealed: { sealed },
  });
  const name = store.nameOf('sealed');
  const root = randomBytes(32);
  const keysTable = await newTable(store.topologyTable.client);
  const stateTable = await newTable(store.topologyTable.client);
  const keys: KeyStore = { table: keysTable, root: async () => root };
  const management = subjectManagement({ topology: store.topology, stateTable, keys, keyDays: 35 });
  const stored = await store.deployment.datastore(name);
  const another = (): Promise<StoredDatastore> => sealUnder(store.topology, keys)(stored);
  return {
    store,
    name,
    trips: await another(),
    stored,
    keysTable,
    stateTable,
    keys,
    management,
    subjects: await management.subjects(name, 'tester'),
    another,
  };
}
