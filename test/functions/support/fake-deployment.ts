import { SchemalessError, wrongField } from '../../../shared/errors.ts';
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
import { referenceStore } from '../../support/reference-store.ts';
import type { ErasureManagement } from '../../../shared/erasures/erasure-management.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import type { MoveManagement } from '../../../shared/moves/move-management.ts';
import type { SubjectManagement } from '../../../shared/sealed/subject-management.ts';
import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { fakeErasures } from './fake-erasures.ts';
import { fakeMoves } from './fake-moves.ts';
import { fakeSubjects } from './fake-subjects.ts';
import { fakeTriggers } from './fake-triggers.ts';

export const SHARDS = 4;

/** The interfaces that the handlers need. */
export type Everything = Deployment &
  TriggerManagement &
  MoveManagement &
  ErasureManagement &
  SubjectManagement &
  DefinitionManagement;

export interface FakeDeployment extends Everything {
  /** The store behind `trips`, for assertions. */
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
    if (!status) throw wrongField('index', 'the name of an index', name, 'unknown_index');
    return status;
  },
};

/** Wraps methods to record each answered call in `asked`: its name and its arguments. */
function recorded<Some extends object>(methods: Some, asked: unknown[][]): Some {
  const entries = Object.entries(methods).map(([name, method]) => [
    name,
    async (...given: unknown[]) => {
      const answer = await method(...given);
      asked.push([name, ...given]);
      return answer;
    },
  ]);
  return Object.fromEntries(entries) as Some;
}

/**
 * Returns a deployment of `trips` in memory, with the indexes of the suite, a trigger, a move, erasures and retention.
 * `changes` replaces methods; `asked` receives the calls of operators' operations.
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
  asked: unknown[][] = [],
): FakeDeployment {
  const trips = referenceStore('trips', SHARDS, SUITE_INDEXES);
  const buffer = recorded<BufferOperations>(
    {
      getBuffer: async () => ({
        groups: [{ group: 'group-1', rows: 0, oldest_age: null, parked: 0, conflicts: 0, in_doubt: 0 }],
      }),
      listBufferConflicts: async () => ({ conflicts: [], next: null }),
      discardBufferConflicts: async ({ ids }) => ({ discarded: ids.length }),
      listWritesInDoubt: async () => ({ in_doubt: [], next: null }),
      keepWritesInDoubt: async ({ ids }) => ({ kept: ids.length }),
    },
    asked,
  );
  /** Hands the methods out for `trips`, with the changes. */
  const of =
    <Some extends object>(methods: (caller?: string) => Some) =>
    async (name: string, caller?: string) => {
      if (name !== 'trips') throw wrongField('datastore', 'trips', name, 'unknown_datastore');
      return { ...methods(caller), ...changes };
    };
  const told =
    <Some extends object>(methods: (caller?: string) => Some) =>
    async (name: string, caller?: string) =>
      recorded(await of(methods)(name, caller), asked);
  return {
    trips,
    triggers: told(fakeTriggers),
    moves: told(fakeMoves),
    erasures: told(fakeErasures),
    subjects: told(fakeSubjects),
    datastore: of(() => ({ ...trips, ...buffer, ...INDEXES, ...oneByOne({ ...trips, ...changes }) })),
    datastores: async () => ['trips'],
    health: async () => health,
    close: async () => undefined,
    ...recorded(fakeDefinitions(), asked),
  };
}

/** Returns a deployment whose every operation throws an error. */
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

/** Looks cells up one by one, by the reads that `changes` replaced. */
function oneByOne(reads: Pick<Datastore, 'get' | 'getLatest'>): LookUps {
  return {
    findEach: async (keys, options, tell) =>
      void (await Promise.all(
        keys.map((key, position) => told(findOne(reads, key, options), (found) => tell(position, found))),
      )),
  };
}

/** Makes and deletes anything. */
function fakeDefinitions(): DefinitionManagement {
  const known = (name: string): void => {
    if (name === 'nope') throw new SchemalessError('unknown_datastore', `no datastore ${name}`);
  };
  return {
    async apply(desired, dryRun) {
      const changes = desired.datastores.map(({ name, shards }) => ({
        kind: 'datastore' as const,
        datastore: name,
        name,
        change: 'create' as const,
        shards,
      }));
      return { done: !dryRun, dry_run: dryRun, changes };
    },
    async deleteIndex(datastore, name, options) {
      known(datastore);
      return { datastore, name, dry_run: options.dry_run === true, lost: null };
    },
    async deleteTrigger(datastore, name, options) {
      known(datastore);
      return { datastore, name, dry_run: options.dry_run === true, lost: { messages: 2, parked: 0 } };
    },
  };
}
