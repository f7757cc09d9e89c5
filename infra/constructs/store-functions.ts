import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Handler } from '../../shared/api/operation.ts';
import { DEFINING_HANDLER } from '../../shared/api/operations.ts';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { backupDays, keyDays, canSeal, type StoreEnvironment } from './store-environment.ts';
import { loopInstances, MANAGED, type Loop } from './connection-budget.ts';
import {
  grantAppliedQueues,
  DRAIN_ITEMS,
  EPOCHS,
  ERASE_ITEMS,
  MANAGE_ITEMS,
  MIGRATE_ITEMS,
  MANAGED_MOVES,
  MOVE_ITEMS,
  REPAIR_ITEMS,
  REPAIRED_TOPOLOGY,
  TAIL_ITEMS,
} from './granted-items.ts';
import type { FunctionCode } from './function-code.ts';
import { MANAGED_MEMORY_MB, ManagedInstances } from './managed-instances.ts';
import type { SchemalessStorage } from './storage.ts';
import { StoreFunction, type StoreFunctionProps } from './store-function.ts';

/** By the routes' `handler`. */
export type AnsweringFunctions = Readonly<Record<AlwaysAnswering, StoreFunction>> &
  Readonly<Partial<Record<typeof DEFINING_HANDLER, StoreFunction>>>;

type AlwaysAnswering = Exclude<Handler, typeof DEFINING_HANDLER>;

interface StoreFunctionsProps {
  readonly storage: SchemalessStorage;
  readonly code: FunctionCode;
}

interface Made extends Pick<StoreFunctionProps, 'databaseUser'> {
  readonly does: string;
}

const ANSWERING: Readonly<Record<AlwaysAnswering, Made>> = {
  'write-cells': { does: 'writes cells', databaseUser: 'write' },
  'read-cells': { does: 'reads cells and logs', databaseUser: 'read' },
  'query-index': { does: 'finds rows by their fields', databaseUser: 'read' },
  'manage-triggers': { does: 'shows and steers triggers', databaseUser: 'read' },
  'manage-moves': { does: 'shows and steers moves of shards' },
  'erase-cells': { does: 'erases cells, and shows what was erased', databaseUser: 'erase' },
};
const DEFINING: Made = { does: 'makes datastores, indexes and triggers without a deployment', databaseUser: 'owner' };
const LOOPING: Readonly<Record<Loop, Made>> = {
  'drain-buffer': { does: 'empties the buffer', databaseUser: 'write' },
  maintenance: { does: 'completes, builds and drops indexes', databaseUser: 'repair' },
  'move-shards': { does: 'copies shards to other groups, and switches them over', databaseUser: 'move' },
  'tail-shards': { does: 'sends cells to the queues of the triggers', databaseUser: 'tail' },
};

/** The HTTP API's limit is 30 s, its integrations' 29. */
const OF_REQUESTS = { kind: 'request', timeout: Duration.seconds(28), memorySize: 1769 } as const;
/** Lambda's maximum; a loop ends when its successor has taken over. */
const OF_LOOPS = { kind: 'loop', timeout: Duration.minutes(15) } as const;

/** Makes the functions behind the HTTP API with their rights. */
export function addAnsweringFunctions(scope: Construct, props: StoreFunctionsProps): AnsweringFunctions {
  const { environment, userSecrets } = props.storage;
  const { definedByApi, managedInstances } = environment;
  const managed =
    managedInstances && new ManagedInstances(scope, 'managed', props.storage, managedInstances.requestsAtOnce);
  const add = (name: Handler, made: Made): StoreFunction =>
    managed && MANAGED.some((one) => one === name)
      ? addFunction(managed, name, props, made, { ...OF_REQUESTS, memorySize: MANAGED_MEMORY_MB, managed })
      : addFunction(scope, name, props, made, OF_REQUESTS);
  const functions = ofEach(ANSWERING, add);
  for (const name of ['write-cells', 'read-cells', 'query-index'] as const) functions[name].grantOpenCircuits();
  functions['manage-triggers'].grantState(MANAGE_ITEMS);
  functions['manage-moves'].grantState(MANAGED_MOVES);
  functions['manage-moves'].grantTopologyWrites(EPOCHS);
  functions['erase-cells'].grantState(ERASE_ITEMS);
  functions['erase-cells'].grantStateScan();
  tellBackupDays(functions['erase-cells'], environment);
  for (const name of ['read-cells', 'query-index'] as const) functions[name].grantKeys('read');
  functions['write-cells'].grantKeys('make');
  functions['erase-cells'].grantKeys('forget');
  functions['erase-cells'].addEnvironment(ENVIRONMENT_VARIABLES.keyDays, String(keyDays(environment)));
  if (!definedByApi) return functions;
  grantAppliedQueues(functions['manage-triggers'], environment, 'manage');
  const defining = add(DEFINING_HANDLER, DEFINING);
  defining.addEnvironment(ENVIRONMENT_VARIABLES.mostShards, String(definedByApi.mostShards));
  defining.addEnvironment(ENVIRONMENT_VARIABLES.canSeal, String(canSeal(environment)));
  defining.grantTopologyWrites();
  defining.grantState(MIGRATE_ITEMS);
  grantAppliedQueues(defining, environment, 'make');
  // Sets the database users' rights.
  for (const secret of Object.values(userSecrets ?? {})) secret.grantRead(defining);
  return { ...functions, [DEFINING_HANDLER]: defining };
}

/** Makes the loops with their rights; their schedules are elsewhere. */
export function addLoopingFunctions(
  scope: Construct,
  props: StoreFunctionsProps,
): Readonly<Record<Loop, StoreFunction>> {
  const { environment } = props.storage;
  const { loopMemoryMb, keepCopiesMinutes = 0 } = environment;
  const functions = ofEach(LOOPING, (name, made) => {
    const memorySize = name === 'drain-buffer' || name === 'move-shards' ? 512 : loopMemoryMb;
    return addFunction(scope, name, props, made, { ...OF_LOOPS, memorySize });
  });
  functions['drain-buffer'].grantState(DRAIN_ITEMS);
  functions['drain-buffer'].grantTopologyWrites(EPOCHS);
  functions['drain-buffer'].addEnvironment(ENVIRONMENT_VARIABLES.keepCopies, String(60 * keepCopiesMinutes));
  functions['maintenance'].grantState(REPAIR_ITEMS);
  tellBackupDays(functions['maintenance'], environment);
  // Finished index versions become live; dropped ones are deleted.
  functions['maintenance'].grantTopologyWrites(REPAIRED_TOPOLOGY);
  functions['move-shards'].grantState(MOVE_ITEMS);
  functions['move-shards'].grantTopologyWrites(EPOCHS);
  const tailing = functions['tail-shards'];
  tailing.grantState(TAIL_ITEMS);
  // A cut log raises the shard's epoch.
  tailing.grantTopologyWrites(EPOCHS);
  tailing.addEnvironment(ENVIRONMENT_VARIABLES.tailers, String(environment.tailers));
  if (environment.definedByApi) grantAppliedQueues(tailing, environment, 'send');
  return functions;
}

/** Erasure records state until when backups may hold the data. */
function tellBackupDays(fn: StoreFunction, environment: StoreEnvironment): void {
  fn.addEnvironment(ENVIRONMENT_VARIABLES.backupDays, String(backupDays(environment)));
}

function ofEach<Name extends string>(
  all: Readonly<Record<Name, Made>>,
  add: (name: Name, made: Made) => StoreFunction,
): Readonly<Record<Name, StoreFunction>> {
  const entries = Object.entries<Made>(all).map(([name, made]) => [name, add(name as Name, made)]);
  return Object.fromEntries(entries) as Record<Name, StoreFunction>;
}

function addFunction(
  scope: Construct,
  name: Handler | Loop,
  { storage, code }: StoreFunctionsProps,
  { does, ...user }: Made,
  how: Pick<StoreFunctionProps, 'kind' | 'timeout' | 'memorySize' | 'managed'>,
): StoreFunction {
  const { environment } = storage;
  // Loops get reserved instances wherever requests do: throttled loops fall behind.
  const instances: Readonly<Record<string, number>> = environment.instances
    ? { ...environment.instances, ...loopInstances(environment) }
    : {};
  const description = `Schemaless: ${does}`;
  return new StoreFunction(scope, name, {
    storage,
    code: code.own(name),
    instances: instances[name],
    description,
    ...user,
    ...how,
  });
}
