import type { StoreEnvironment } from './store-environment.ts';

/** How many days a cluster can be set back, to any second of them. */
export function recoveryDays({ protectedFromDeletion }: Pick<StoreEnvironment, 'protectedFromDeletion'>): number {
  return protectedFromDeletion ? 35 : 1;
}

/** The most days that any backup holds what was erased since; 0 on one machine, where nobody makes one. */
export function backupDays(environment: Pick<StoreEnvironment, 'name' | 'backups' | 'protectedFromDeletion'>): number {
  if (environment.name === 'local') return 0;
  return Math.max(environment.backups?.keepDays ?? 0, recoveryDays(environment));
}
