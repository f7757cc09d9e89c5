import { Architecture, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { EnvironmentProps } from '../environments.ts';

/** What every function runs on. */
export const MACHINE = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 };

/** Whether a function gives AWS X-Ray a trace of its calls: how long an instance took to start, and to answer. */
export function tracingOf({ tracing }: EnvironmentProps): Tracing {
  return tracing ? Tracing.ACTIVE : Tracing.DISABLED;
}
