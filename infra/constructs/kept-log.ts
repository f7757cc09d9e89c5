import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/**
 * The log of a function, an API or a network: kept for as long as the environment says, and gone with it unless it is protected.
 */
export function keptLog(scope: Construct, id: string, { logDays, protectedFromDeletion }: StoreEnvironment): LogGroup {
  return new LogGroup(scope, `${id}-log`, {
    retention: logDays,
    removalPolicy: protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
}
