import { Names } from 'aws-cdk-lib';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { environmentOf, type ConsumerVariable } from '../../shared/environment.ts';
import type { OperationName } from '../../shared/api/operations.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { SchemalessStorage } from './storage.ts';
import type { StoreApi } from './store-api.ts';
import { grantTableKey } from './key-uses.ts';
import { consumedItems } from './granted-items.ts';
import { grantItems, READ_TOPOLOGY, STATE_ITEMS } from './table-actions.ts';
import { BATCH_SIZE } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

/** What the function's client calls; batches for columns whose names do not fit a path. */
const CALLED = [
  'getCell',
  'getLatestCell',
  'getRow',
  'batchGet',
  'batchRead',
  'putCell',
  'batchPut',
  'queryIndex',
  'batchQuery',
] as const satisfies readonly OperationName[];

/** Concurrent batches: a backlog leaves most of an account's 1,000 to requests. */
const MAX_CONCURRENCY = 50;

export interface ConsumerParts {
  readonly storage: SchemalessStorage;
  readonly api: StoreApi;
  readonly trigger: TriggerQueue;
  /** Concurrent batches, 2 to 1000. @default 50 */
  readonly maxConcurrency?: number | undefined;
}

function consumerVariables({ storage, api, trigger }: ConsumerParts): Readonly<Record<string, string>> {
  const { environment, tables } = storage;
  return environmentOf<ConsumerVariable>({
    environment: environment.name,
    topologyTable: tables.topology.tableName,
    stateTable: tables.state.tableName,
    apiUrl: api.api.apiEndpoint,
    datastore: trigger.datastore,
  });
}

/**
 * Connects a function to a trigger's queue and the HTTP API. Returns the event source, which may start once the store
 * knows the trigger. `called`: the function, or a version or an alias of it. `fn`: gets the variables and the rights.
 */
export function connectConsumer(called: IFunction, fn: LambdaFunction, parts: ConsumerParts): IConstruct {
  const { storage, api, trigger, maxConcurrency = MAX_CONCURRENCY } = parts;
  for (const [name, value] of Object.entries(consumerVariables(parts))) fn.addEnvironment(name, value);
  acknowledgeRoutes(fn, api.api, api.arnsOf(trigger.datastore, CALLED));
  const { datastore, definition } = trigger;
  storage.tables.topology.grant(fn, ...READ_TOPOLOGY);
  // Users' code must not affect other triggers.
  grantItems(fn, storage.tables.state, STATE_ITEMS, consumedItems(datastore, definition.name));
  grantTableKey(fn, storage.encryptionKey, 'write');
  api.grantCalls(fn, trigger.datastore, CALLED);
  const mapping = called.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(trigger.queue.node)}`, {
    eventSourceArn: trigger.queue.queueArn,
    batchSize: BATCH_SIZE,
    reportBatchItemFailures: true,
    maxConcurrency,
  });
  trigger.grantConsuming(fn);
  trigger.consumer = called;
  return mapping;
}
