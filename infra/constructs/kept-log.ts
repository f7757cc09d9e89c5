import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/**
 * Makes a log with the environment's retention. `logGroupName`: for an AWS service that would otherwise create the log
 * itself, without retention.
 */
export function keptLog(
  scope: Construct,
  id: string,
  { logDays, protectedFromDeletion }: StoreEnvironment,
  logGroupName?: string,
): LogGroup {
  return new LogGroup(scope, `${id}-log`, {
    ...(logGroupName !== undefined && { logGroupName }),
    retention: logDays,
    removalPolicy: protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
}
