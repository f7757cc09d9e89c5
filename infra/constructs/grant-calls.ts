import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { OperationName } from '../../shared/api/operations.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { StoreApi } from './store-api.ts';

/** Allows operations of one datastore, or of all (`*`). */
export function grantCalls(
  api: StoreApi,
  grantee: IGrantable,
  datastore: string,
  operations: readonly OperationName[],
): Grant {
  if (Construct.isConstruct(grantee)) acknowledgeRoutes(grantee, api.api, api.arnsOf(datastore, operations));
  return api.grantCalls(grantee, datastore, operations);
}
