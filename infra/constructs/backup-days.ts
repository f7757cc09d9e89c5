import { MOST_KEY_DAYS, type StoreEnvironment } from './store-environment.ts';

/** Days for which a cluster can be restored to a point in time. */
export function recoveryDays({ protectedFromDeletion }: Pick<StoreEnvironment, 'protectedFromDeletion'>): number {
  return protectedFromDeletion ? 35 : 1;
}

/** Days for which the keys table can be restored; 0 locally, where it cannot. */
export function keyDays({ name, keyDays: wished = MOST_KEY_DAYS }: Pick<StoreEnvironment, 'name' | 'keyDays'>): number {
  return name === 'local' ? 0 : wished;
}

/** The most days that a backup holds erased data; 0 locally, where there is no backup. */
export function backupDays(environment: Pick<StoreEnvironment, 'name' | 'backups' | 'protectedFromDeletion'>): number {
  if (environment.name === 'local') return 0;
  return Math.max(environment.backups?.keepDays ?? 0, recoveryDays(environment));
}
