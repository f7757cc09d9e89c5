import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/**
 * A log that is kept for as long as the environment says, and gone with it unless it is protected.
 *
 * @param logGroupName where a service of AWS writes to it by its name, and would make it itself, and keep it for ever
 *   @default CloudFormation names it
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
