import { Duration } from 'aws-cdk-lib';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { connectConsumer, type ConsumerParts } from './connect-consumer.ts';
import { acknowledgeLambdaPolicies, acknowledgeTracing } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import { MACHINE, tracingOf } from './machine.ts';
import { batchSeconds } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

interface TriggerFunctionProps extends ConsumerParts {
  readonly code: Code;
}

/** The function of a trigger's definition. It connects to no cluster, so that it needs no VPC. */
export class TriggerFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: TriggerFunctionProps) {
    const { trigger, storage } = props;
    super(scope, id, {
      ...MACHINE,
      description: `Schemaless: trigger ${trigger.definition.name} of ${trigger.datastore}`,
      handler: 'index.handler',
      code: props.code,
      timeout: Duration.seconds(batchSeconds(trigger.definition)),
      memorySize: 512,
      logGroup: keptLog(scope, id, storage.environment),
      // The queue keeps unfinished work.
      retryAttempts: 0,
      tracing: tracingOf(storage.environment),
    });
    acknowledgeLambdaPolicies(this);
    acknowledgeTracing(this);
    connectConsumer(this, this, props);
  }
}

/** No datastore name has a hyphen, so the name is unique. */
export function triggerFunctionName({ datastore, definition }: Pick<TriggerQueue, 'datastore' | 'definition'>): string {
  return `trigger-${datastore}-${definition.name}`;
}
