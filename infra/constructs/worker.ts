import { Architecture, Function as LambdaFunction, Runtime, Tracing, type FunctionProps } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { acknowledge, acknowledgeLambdaPolicies } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import type { StoreEnvironment } from './store-environment.ts';

export const MACHINE = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 };

export interface WorkerProps extends Omit<FunctionProps, keyof typeof MACHINE | 'handler'> {
  /** @default index.handler */
  readonly handler?: string;
}

/** A function with the environment's log and traces. Its caller retries: Lambda's retries would run in parallel. */
export class Worker extends LambdaFunction {
  constructor(scope: Construct, id: string, environment: StoreEnvironment, props: WorkerProps) {
    super(scope, id, {
      ...MACHINE,
      handler: 'index.handler',
      logGroup: keptLog(scope, id, environment),
      retryAttempts: 0,
      tracing: environment.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      ...props,
    });
    acknowledgeLambdaPolicies(this);
    acknowledge(this, 'IAM5[Resource::*]', 'The two actions by which traces are handed to AWS X-Ray take no resource');
  }
}
