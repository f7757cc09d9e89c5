import { Architecture, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { StoreEnvironment } from './store-environment.ts';

/** What every function runs on. */
export const MACHINE = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 };

/** Whether a function gives AWS X-Ray a trace of its calls: how long an instance took to start, and to answer. */
export function tracingOf({ tracing }: StoreEnvironment): Tracing {
  return tracing ? Tracing.ACTIVE : Tracing.DISABLED;
}
