import type { StoreEnvironment } from './store-environment.ts';

/**
 * Whether functions can read the root key of sealed fields: where they are in a VPC and log in with tokens, an endpoint is
 * made for that alone.
 */
export function canSeal({
  functionsInVpc,
  databaseAuth,
  sealsFields = false,
}: Pick<StoreEnvironment, 'functionsInVpc' | 'databaseAuth' | 'sealsFields'>): boolean {
  return !functionsInVpc || databaseAuth === 'secret' || sealsFields;
}
