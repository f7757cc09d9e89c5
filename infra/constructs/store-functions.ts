import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Handler } from '../../shared/api/operation.ts';
import { DEFINING_HANDLER } from '../../shared/api/operations.ts';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { backupDays, keyDays, canSeal, type StoreEnvironment } from './store-environment.ts';
import { loopInstances, type Loop } from './connection-budget.ts';
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
import type { SchemalessStorage } from './storage.ts';
import { StoreFunction, type StoreFunctionProps } from './store-function.ts';

/** By the routes' `handler`. */
export type AnsweringFunctions = Readonly<Record<AlwaysAnswering, StoreFunction>> &
  Readonly<Partial<Record<typeof DEFINING_HANDLER, StoreFunction>>>;

type AlwaysAnswering = Exclude<Handler, typeof DEFINING_HANDLER>;

type LoopingFunctions = Readonly<Record<Loop, StoreFunction>>;

interface StoreFunctionsProps {
  readonly storage: SchemalessStorage;
  readonly code: FunctionCode;
}

/** The HTTP API's limit is 30 s, its integrations' 29. */
const API_TIMEOUT = Duration.seconds(28);

/** Lambda's maximum; a loop ends when its successor has taken over. */
const LOOP_TIMEOUT = Duration.minutes(15);

/** Makes the functions behind the HTTP API with their rights. */
export function addAnsweringFunctions(scope: Construct, props: StoreFunctionsProps): AnsweringFunctions {
  const add = (name: Handler, made: Pick<StoreFunctionProps, 'description' | 'databaseUser'>): StoreFunction =>
    addFunction(scope, name, props, { ...made, kind: 'request', timeout: API_TIMEOUT, memorySize: 1769 });

  const { environment, userSecrets } = props.storage;
  const { definedByApi } = environment;
  const functions: Readonly<Record<AlwaysAnswering, StoreFunction>> = {
    'write-cells': add('write-cells', { description: 'Schemaless: writes cells', databaseUser: 'write' }),
    'read-cells': add('read-cells', { description: 'Schemaless: reads cells and logs', databaseUser: 'read' }),
    'query-index': add('query-index', { description: 'Schemaless: finds rows by their fields', databaseUser: 'read' }),
    'manage-triggers': add('manage-triggers', {
      description: 'Schemaless: shows and steers triggers',
      databaseUser: 'read',
    }),
    'manage-moves': add('manage-moves', { description: 'Schemaless: shows and steers moves of shards' }),
    'erase-cells': add('erase-cells', {
      description: 'Schemaless: erases cells, and shows what was erased',
      databaseUser: 'erase',
    }),
  };
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
  const defining = add(DEFINING_HANDLER, {
    description: 'Schemaless: makes datastores, indexes and triggers without a deployment',
    databaseUser: 'owner',
  });
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
export function addLoopingFunctions(scope: Construct, props: StoreFunctionsProps): LoopingFunctions {
  const add = (
    name: keyof LoopingFunctions,
    made: Pick<StoreFunctionProps, 'description' | 'databaseUser' | 'memorySize'>,
  ): StoreFunction => addFunction(scope, name, props, { ...made, kind: 'loop', timeout: LOOP_TIMEOUT });
  const { environment } = props.storage;
  const { loopMemoryMb, keepCopiesMinutes = 0 } = environment;

  const functions: LoopingFunctions = {
    'drain-buffer': add('drain-buffer', {
      description: 'Schemaless: empties the buffer',
      databaseUser: 'write',
      memorySize: 512,
    }),
    maintenance: add('maintenance', {
      description: 'Schemaless: completes, builds and drops indexes',
      databaseUser: 'repair',
      memorySize: loopMemoryMb,
    }),
    'move-shards': add('move-shards', {
      description: 'Schemaless: copies shards to other groups, and switches them over',
      databaseUser: 'move',
      memorySize: 512,
    }),
    'tail-shards': add('tail-shards', {
      description: 'Schemaless: sends cells to the queues of the triggers',
      databaseUser: 'tail',
      memorySize: loopMemoryMb,
    }),
  };
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

function addFunction(
  scope: Construct,
  name: keyof AnsweringFunctions | keyof LoopingFunctions,
  { storage, code }: StoreFunctionsProps,
  made: Pick<StoreFunctionProps, 'description' | 'databaseUser' | 'kind' | 'timeout' | 'memorySize'>,
): StoreFunction {
  const { environment } = storage;
  // Loops get reserved instances wherever requests do: throttled loops fall behind.
  const instances = new Map<string, number>(
    environment.instances ? Object.entries({ ...environment.instances, ...loopInstances(environment) }) : [],
  );
  return new StoreFunction(scope, name, { storage, code: code.own(name), instances: instances.get(name), ...made });
}
