import type { StoreContext } from '../access/context.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/** The dependencies of an erasure. */
export interface ErasureWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  /** The most days for which backups are kept; 0: there are none. */
  readonly backupDays: number;
}

/** The time limits of a run. */
export interface Patience {
  /** Returns whether time is left; called before each page of bodies. */
  readonly mayGoOn: () => boolean;
  /** Milliseconds before each poll of whether all servers show the erasure. */
  readonly pollsMs: readonly number[];
}

/** A step that is not done, and why. */
export class NotYet extends Error {}

/** Throws `NotYet` once the time of a run is up. */
export function requireTime({ mayGoOn }: Patience): void {
  if (!mayGoOn()) throw new NotYet('there is more to erase, which continues in the background');
}
