import { MOST_KEY_DAYS, type StoreEnvironment } from './store-environment.ts';

/** How many days a cluster can be set back, to any second of them. */
export function recoveryDays({ protectedFromDeletion }: Pick<StoreEnvironment, 'protectedFromDeletion'>): number {
  return protectedFromDeletion ? 35 : 1;
}

/** How many days the table of keys can be set back; 0 on one machine, where it cannot. */
export function keyDays({ name, keyDays: wished = MOST_KEY_DAYS }: Pick<StoreEnvironment, 'name' | 'keyDays'>): number {
  return name === 'local' ? 0 : wished;
}

/** The most days that any backup holds what was erased since; 0 on one machine, where nobody makes one. */
export function backupDays(environment: Pick<StoreEnvironment, 'name' | 'backups' | 'protectedFromDeletion'>): number {
  if (environment.name === 'local') return 0;
  return Math.max(environment.backups?.keepDays ?? 0, recoveryDays(environment));
}
