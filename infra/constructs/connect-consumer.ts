import { Names, Duration } from 'aws-cdk-lib';
import type { Code, Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct, Construct } from 'constructs';
import { environmentOf, type ConsumerVariable } from '../../shared/environment.ts';
import type { OperationName } from '../../shared/api/operations.ts';
import type { SchemalessStorage } from './storage.ts';
import type { StoreApi } from './store-api.ts';
import { TRIGGER_CONCURRENCY } from './store-environment.ts';
import { grantTableKey } from './key-uses.ts';
import { consumedItems, grantItems, READ_TOPOLOGY, STATE_ITEMS } from './granted-items.ts';
import { BATCH_SIZE, batchSeconds, HANDED_BACK_SECONDS } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';
import { Worker } from './worker.ts';

/** The operations that the function's client calls; batches for columns whose names do not fit a path. */
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

interface ConsumerParts {
  readonly storage: SchemalessStorage;
  readonly api: StoreApi;
  readonly trigger: TriggerQueue;
  /** Concurrent batches, 2 to 1000. @default that of the environment */
  readonly maxConcurrency?: number | undefined;
}

/**
 * Connects a function to a trigger's queue and the HTTP API. Returns the event source, which may start once the store
 * knows the trigger. `called`: the function, or a version or an alias of it. `fn`: gets the variables and the rights.
 */
export function connectConsumer(called: IFunction, fn: LambdaFunction, parts: ConsumerParts): IConstruct {
  const { storage, api, trigger } = parts;
  const { maxConcurrency = storage.environment.triggerConcurrency ?? TRIGGER_CONCURRENCY } = parts;
  const { datastore, definition } = trigger;
  const { topology, state } = storage.tables;
  const variables = environmentOf<ConsumerVariable>({
    environment: storage.environment.name,
    topologyTable: topology.tableName,
    stateTable: state.tableName,
    apiUrl: api.api.apiEndpoint,
    datastore,
  });
  for (const [name, value] of Object.entries(variables)) fn.addEnvironment(name, value);
  topology.grant(fn, ...READ_TOPOLOGY);
  // Users' code must not affect other triggers.
  grantItems(fn, state, STATE_ITEMS, consumedItems(datastore, definition.name));
  grantTableKey(fn, storage.encryptionKey, 'write');
  api.grantCalls(fn, datastore, CALLED);
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

/** A function has one trigger: its environment and handler name it. */
const CONSUMERS = new WeakMap<LambdaFunction, TriggerQueue>();

/** Lambda's default. */
const LAMBDA_SECONDS = 3;

/**
 * Returns the function that consumes a trigger's queue. Throws an Error that names the function if it cannot. `called`:
 * the function, or a version or an alias of it.
 */
export function consumingFunction(called: IFunction, trigger: TriggerQueue): LambdaFunction {
  const where = `trigger ${trigger.definition.name} of ${trigger.datastore}`;
  const fn = functionBehind(called);
  if (!fn)
    throw new Error(
      `${where}: wanted a function that this app makes, since it needs variables and rights, got the imported ${called.node.path}`,
    );
  const other = CONSUMERS.get(fn);
  if (other)
    throw new Error(
      `${where}: wanted a function of its own, got ${fn.node.path}, which is that of trigger ${other.definition.name} of ${other.datastore}`,
    );
  checkTimeout(where, fn, trigger);
  CONSUMERS.set(fn, trigger);
  return fn;
}

function functionBehind(called: IFunction): LambdaFunction | undefined {
  if ('addEnvironment' in called) return called as LambdaFunction;
  const { lambda } = called as { readonly lambda?: IFunction };
  return lambda && functionBehind(lambda);
}

/** A shorter timeout cuts calls off; a longer one makes messages visible again. */
function checkTimeout(where: string, { timeout, node }: LambdaFunction, { definition }: TriggerQueue): void {
  const { timeoutSeconds } = definition;
  const seconds = (timeout as Duration | undefined)?.toSeconds() ?? LAMBDA_SECONDS;
  const [least, most] = [timeoutSeconds + HANDED_BACK_SECONDS, batchSeconds(definition)];
  if (seconds >= least && seconds <= most) return;
  throw new Error(
    `${where}: wanted a timeout from ${least} to ${most} s of the function ${node.path}, got ${seconds} s. It covers ${timeoutSeconds} s for each of up to ten cells, and a minute to count and to hand back`,
  );
}

interface TriggerFunctionProps extends ConsumerParts {
  readonly code: Code;
}

/** The function of a trigger's definition. It connects to no cluster, so that it needs no VPC. */
export class TriggerFunction extends Worker {
  constructor(scope: Construct, id: string, props: TriggerFunctionProps) {
    const { trigger, storage } = props;
    super(scope, id, storage.environment, {
      description: `Schemaless: trigger ${trigger.definition.name} of ${trigger.datastore}`,
      code: props.code,
      timeout: Duration.seconds(batchSeconds(trigger.definition)),
      memorySize: 512,
    });
    connectConsumer(this, this, props);
  }
}

/** No datastore name has a hyphen, so the name is unique. */
export function triggerFunctionName({ datastore, definition }: Pick<TriggerQueue, 'datastore' | 'definition'>): string {
  return `trigger-${datastore}-${definition.name}`;
}
