import { Architecture, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { StoreEnvironment } from './store-environment.ts';

export const MACHINE = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 };

export function tracingOf({ tracing }: StoreEnvironment): Tracing {
  return tracing ? Tracing.ACTIVE : Tracing.DISABLED;
}
