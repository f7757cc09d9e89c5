import { Duration } from 'aws-cdk-lib';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { environmentOf, type ConsumerVariable } from '../../shared/environment.ts';
import type { Operation } from '../../shared/api/routes.ts';
import type { EnvironmentProps } from '../environments.ts';
import { acknowledgeLambdaPolicies, acknowledgeRoutes, acknowledgeTracing } from './evidence.ts';
import { functionLog } from './function-log.ts';
import { MACHINE, tracingOf } from './machine.ts';
import type { StateTables } from './state-tables.ts';
import type { StoreApi } from './store-api.ts';
import { READ_TABLE, WRITE_TABLE } from './table-actions.ts';
import { BATCH_SIZE, batchSeconds } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface TriggerFunctionProps {
  readonly environment: EnvironmentProps;
  readonly trigger: TriggerQueue;
  readonly code: Code;
  readonly tables: StateTables;
  readonly api: StoreApi;
}

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

/**
 * The function that a trigger calls: it takes messages from the trigger's queue, counts failures in the state table,
 * and reads and writes cells over the HTTP API. It connects to no cluster, so that it needs no VPC and reaches whatever
 * the owner of the trigger wants it to reach.
 */
export class TriggerFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: TriggerFunctionProps) {
    const { environment, trigger, tables, api } = props;
    super(scope, id, {
      ...MACHINE,
      description: `Schemaless: trigger ${trigger.definition.name} of ${trigger.datastore}`,
      handler: 'index.handler',
      code: props.code,
      timeout: Duration.seconds(batchSeconds(trigger.definition)),
      memorySize: 512,
      logGroup: functionLog(scope, id, environment),
      // The queue holds what was not done.
      retryAttempts: 0,
      tracing: tracingOf(environment),
      environment: environmentOf<ConsumerVariable>({
        environment: environment.name,
        topologyTable: tables.topology.tableName,
        stateTable: tables.state.tableName,
        apiUrl: api.api.apiEndpoint,
        datastore: trigger.datastore,
      }),
    });
    acknowledgeLambdaPolicies(this);
    acknowledgeTracing(this);
    acknowledgeRoutes(this, api.arnsOf(trigger.datastore, CALLED));
    tables.topology.grant(this, ...READ_TABLE);
    tables.state.grant(this, ...READ_TABLE, ...WRITE_TABLE);
    api.grantCalls(this, trigger.datastore, CALLED);
    this.addEventSource(
      new SqsEventSource(trigger.queue, {
        batchSize: BATCH_SIZE,
        reportBatchItemFailures: true,
        maxConcurrency: MAX_CONCURRENCY,
      }),
    );
  }
}
