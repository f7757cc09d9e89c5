import type { StoreEnvironment } from './store-environment.ts';

/** Whether functions reach the root key of sealed fields: a VPC with token logins needs an endpoint. */
export function canSeal({
  functionsInVpc,
  databaseAuth,
  sealsFields = false,
}: Pick<StoreEnvironment, 'functionsInVpc' | 'databaseAuth' | 'sealsFields'>): boolean {
  return !functionsInVpc || databaseAuth === 'secret' || sealsFields;
}
