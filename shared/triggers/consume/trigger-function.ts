import type { TriggerMessage } from '../state/trigger-store.ts';
import type { SchemalessClient } from '../../client/client.ts';

export interface TriggerCall {
  /** Aborted when the call's time is up. */
  readonly signal: AbortSignal;
  /** How often this cell was tried, this time included, as far as is known. */
  readonly attempt: number;
}

/**
 * The function that a trigger calls for each cell. If it throws, or does not answer in time, it is called again for the
 * cell, and later cells of the shard wait. It must be safe to repeat: it may be called for a cell that is done.
 */
export type TriggerFunction<Message extends TriggerMessage = TriggerMessage, Store = SchemalessClient> = (
  rowKey: string,
  message: Message,
  store: Store,
  call: TriggerCall,
) => unknown;
