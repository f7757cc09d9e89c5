import { SchemalessError } from '../../../shared/errors.ts';
import type { BufferOperations } from '../../../shared/api/buffer.ts';
import type { ErasureOperations } from '../../../shared/api/erasures.ts';
import type { IndexOperations, IndexStatus } from '../../../shared/api/indexes.ts';
import type { MoveOperations } from '../../../shared/api/moves.ts';
import type { GroupHealth } from '../../../shared/api/service.ts';
import type { SubjectOperations } from '../../../shared/api/subjects.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { findOne, told, type LookUps } from '../../../shared/store/look-ups.ts';
import { referenceStore } from '../../../shared/store/reference-store.ts';
import type { ErasureManagement } from '../../../shared/erasures/erasure-management.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import type { MoveManagement } from '../../../shared/moves/move-management.ts';
import type { SubjectManagement } from '../../../shared/sealed/subject-management.ts';
import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { fakeDefinitions } from './fake-definitions.ts';
import { fakeErasures } from './fake-erasures.ts';
import { fakeMoves } from './fake-moves.ts';
import { fakeSubjects } from './fake-subjects.ts';
import { fakeTriggers } from './fake-triggers.ts';

export const SHARDS = 4;

/** What all handlers together work on. */
export type Everything = Deployment &
  TriggerManagement &
  MoveManagement &
  ErasureManagement &
  SubjectManagement &
  DefinitionManagement;

export interface FakeDeployment extends Everything {
  /** The store behind `trips`, to look into. */
  readonly trips: Datastore;
}

const STATUSES: readonly IndexStatus[] = SUITE_INDEXES.map(({ name, fields, keys }) => ({
  index: name,
  table: `${name}_1a2b3c4d`,
  state: 'live',
  fields,
  keys,
  progress: null,
  lag: 0,
  largest_share: 0.5,
  mistyped: [],
}));

const INDEXES: IndexOperations = {
  listIndexes: async () => ({ indexes: STATUSES }),
  async getIndex(name) {
    const status = STATUSES.find(({ index }) => index === name);
    if (status === undefined)
      throw new SchemalessError('unknown_index', `no index ${name}`, {
        field: 'index',
        wanted: 'the name of an index',
        got: name,
      });
    return status;
  },
};

/**
 * A deployment of one datastore, `trips`, in memory, with the indexes of the suite, a trigger, a move, erasures and retention.
 * `changes` replaces what should behave otherwise.
 */
export function fakeDeployment(
  changes: Partial<
    Datastore &
      BufferOperations &
      IndexOperations &
      TriggerOperations &
      MoveOperations &
      ErasureOperations &
      SubjectOperations
  > = {},
  health: readonly GroupHealth[] = [],
): FakeDeployment {
  const trips = referenceStore('trips', SHARDS, SUITE_INDEXES);
  const buffer: BufferOperations = {
    getBuffer: async () => ({
      groups: [{ group: 'group-1', rows: 0, oldest_age: null, parked: 0, conflicts: 0, undecided: 0 }],
    }),
    listBufferConflicts: async () => ({ conflicts: [], next: null }),
    discardBufferConflicts: async ({ ids }) => ({ discarded: ids.length }),
    listUndecidedWrites: async () => ({ undecided: [], next: null }),
    keepUndecidedWrites: async ({ ids }) => ({ kept: ids.length }),
  };
  const check = (name: string): void => {
    if (name !== 'trips')
      throw new SchemalessError('unknown_datastore', `datastore: wanted trips, got ${name}`, {
        field: 'datastore',
        wanted: 'trips',
        got: name,
      });
  };
  return {
    trips,
    async triggers(name) {
      check(name);
      return { ...fakeTriggers(), ...changes };
    },
    async moves(name) {
      check(name);
      return { ...fakeMoves(), ...changes };
    },
    async erasures(name, caller) {
      check(name);
      return { ...fakeErasures([], caller), ...changes };
    },
    async subjects(name, caller) {
      check(name);
      return { ...fakeSubjects([], caller), ...changes };
    },
    async datastore(name) {
      check(name);
      const reads = { ...trips, ...changes };
      return { ...reads, ...buffer, ...INDEXES, ...changes, ...oneByOne(reads) };
    },
    datastores: async () => ['trips'],
    health: async () => health,
    close: async () => undefined,
    ...fakeDefinitions(),
  };
}

/** Whatever it is asked for, it throws this. */
export function failingDeployment(error: unknown): Everything {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return {
    triggers: fail,
    moves: fail,
    erasures: fail,
    subjects: fail,
    datastore: fail,
    datastores: fail,
    health: fail,
    close: async () => undefined,
    apply: fail,
    deleteIndex: fail,
    deleteTrigger: fail,
  };
}

/** Looks cells up one by one: what `changes` replaced is asked. */
function oneByOne(reads: Pick<Datastore, 'get' | 'getLatest'>): LookUps {
  return {
    findEach: async (keys, options, tell) =>
      void (await Promise.all(
        keys.map((key, position) => told(findOne(reads, key, options), (found) => tell(position, found))),
      )),
  };
}
