import type { RepairSettings } from '../../../shared/index/repair/settings.ts';
import type { DatastoreAccess } from '../../support/store-access.ts';
import type { Stage } from '../stage.ts';
import type { RepairInput, RepairProgress } from './repair-process.ts';
import { RestartedProcess } from './restarted-process.ts';
import { AS_IT_IS, type Variation } from './variation.ts';

export type Repair = RestartedProcess<RepairInput, RepairProgress>;

export interface RepairOptions {
  /** @default as the function does it */
  readonly variation?: Variation;
  /** @default the function's own */
  readonly settings?: Partial<RepairSettings>;
}

/** A process that repairs the indexes of a datastore, and can be killed. Returns once it works; its caller ends it. */
export async function startRepair(
  { cluster }: Stage,
  access: DatastoreAccess,
  { variation = AS_IT_IS, settings = {} }: RepairOptions = {},
): Promise<Repair> {
  const repair: Repair = new RestartedProcess(new URL('repair-process.ts', import.meta.url), cluster.folder, () => ({
    access,
    variation,
    settings,
  }));
  await repair.ready;
  return repair;
}
