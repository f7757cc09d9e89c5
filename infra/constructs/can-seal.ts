import type { StoreEnvironment } from './store-environment.ts';

/**
 * True if functions can read the root key of sealed fields. In a VPC with token logins that takes an endpoint of its
 * own.
 */
export function canSeal({
  functionsInVpc,
  databaseAuth,
  sealsFields = false,
}: Pick<StoreEnvironment, 'functionsInVpc' | 'databaseAuth' | 'sealsFields'>): boolean {
  return !functionsInVpc || databaseAuth === 'secret' || sealsFields;
}
