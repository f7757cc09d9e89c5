import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/** For resources without deletion protection: protected ones stay, unless the deployment that makes them fails. */
export function removalOf({ protectedFromDeletion }: StoreEnvironment): RemovalPolicy {
  return protectedFromDeletion ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}

/**
 * Makes a log with the environment's retention. `logGroupName`: for an AWS service that would otherwise create the log
 * itself, without retention.
 */
export function keptLog(scope: Construct, id: string, environment: StoreEnvironment, logGroupName?: string): LogGroup {
  return new LogGroup(scope, `${id}-log`, {
    ...(logGroupName !== undefined && { logGroupName }),
    retention: environment.logDays,
    removalPolicy: removalOf(environment),
  });
}
