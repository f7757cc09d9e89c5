import { SchemalessError } from '../../../shared/errors.ts';
import type { BufferOperations, Datastore, GroupHealth } from '../../../shared/store/datastore.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { referenceStore } from '../../../shared/store/reference-store.ts';

export const SHARDS = 4;

export interface FakeDeployment extends Deployment {
  /** The store behind `trips`, to look into. */
  readonly trips: Datastore;
}

/** A deployment of one datastore, `trips`, in memory. `changes` replaces what should behave otherwise. */
export function fakeDeployment(changes: Partial<Datastore & BufferOperations> = {}, health: readonly GroupHealth[] = []): FakeDeployment {
  const trips = referenceStore('trips', SHARDS);
  const buffer: BufferOperations = {
    buffer: async () => [{ group: 'group-1', rows: 0, oldest_age: null, parked: 0, conflicts: 0 }],
    bufferConflicts: async () => ({ conflicts: [], next: null }),
    discardConflicts: async (ids) => ids.length,
  };
  return {
    trips,
    async datastore(name) {
      if (name !== 'trips') throw new SchemalessError('unknown_datastore', `datastore: wanted trips, got ${name}`, { field: 'datastore', wanted: 'trips', got: name });
      return { ...trips, ...buffer, ...changes };
    },
    datastores: async () => ['trips'],
    health: async () => health,
    close: async () => undefined,
  };
}

/** Whatever it is asked for, it throws this. */
export function failingDeployment(error: unknown): Deployment {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return { datastore: fail, datastores: fail, health: fail, close: async () => undefined };
}
