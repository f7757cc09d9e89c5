import { Names } from 'aws-cdk-lib';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { environmentOf, type ConsumerVariable } from '../../shared/environment.ts';
import type { Operation } from '../../shared/api/routes.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { SchemalessStorage } from './storage.ts';
import type { StoreApi } from './store-api.ts';
import { grantTableKey } from './key-uses.ts';
import { consumedItems } from './granted-items.ts';
import { grantItems, READ_TOPOLOGY, STATE_ITEMS } from './table-actions.ts';
import { BATCH_SIZE } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

/**
 * What the client that is handed to the function asks of its datastore; batches and rows where a path cannot hold a
 * column's name.
 */
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
] as const satisfies readonly Operation[];

/**
 * Batches under way at once, one of each shard: a backlog leaves most of an account's 1,000 to those who ask over HTTP.
 */
const MAX_CONCURRENCY = 50;

/** What a trigger's function is connected to. */
export interface ConsumerParts {
  readonly storage: SchemalessStorage;
  readonly api: StoreApi;
  readonly trigger: TriggerQueue;
  /** Batches under way at once: 2 to 1000. @default 50 */
  readonly maxConcurrency?: number | undefined;
}

/** The variables that a trigger's function reads, by their names. */
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
 * Lets a function consume a trigger's queue: it gets the messages in batches, counts failures in the state table, and
 * reads and writes cells over the HTTP API.
 *
 * @param called gets the messages: the function, or a version or an alias of it
 * @param fn gets the variables and the rights
 * @returns what hands it the messages, which may begin once the trigger is known to the store
 */
export function connectConsumer(called: IFunction, fn: LambdaFunction, parts: ConsumerParts): IConstruct {
  const { storage, api, trigger, maxConcurrency = MAX_CONCURRENCY } = parts;
  for (const [name, value] of Object.entries(consumerVariables(parts))) fn.addEnvironment(name, value);
  acknowledgeRoutes(fn, api.api, api.arnsOf(trigger.datastore, CALLED));
  const { datastore, definition } = trigger;
  storage.tables.topology.grant(fn, ...READ_TOPOLOGY);
  // A team's own code, which is to harm nobody else's trigger.
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
