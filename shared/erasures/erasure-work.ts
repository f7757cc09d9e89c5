import type { StoreContext } from '../access/context.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/** What an erasure is carried out with. */
export interface ErasureWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  /** How long backups are kept at most; 0: there are none. */
  readonly backupDays: number;
}

/** How long somebody stays at it. */
export interface Patience {
  /** Asked before each page of bodies. */
  readonly mayGoOn: () => boolean;
  /** Milliseconds between looks whether all servers show it. */
  readonly looksMs: readonly number[];
}

/** A step that is not done, and why. */
export class NotYet extends Error {}

/** Throws `NotYet` once somebody has stayed at it for as long as they may. */
export function requireTime({ mayGoOn }: Patience): void {
  if (!mayGoOn()) throw new NotYet('there is much, which goes on in the background');
}
