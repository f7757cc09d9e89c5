import type { TriggerMessage } from '../state/trigger-store.ts';
import type { TriggeredClient } from './triggered-client.ts';

export interface TriggerCall {
  /** Aborted when the call's time is up. */
  readonly signal: AbortSignal;
  /** How often this cell was tried, this time included, as far as is known. */
  readonly attempt: number;
}

/**
 * What a trigger calls for each cell. If it throws, or does not answer in time, it is called again for the same cell, and
 * the cells behind it in the shard wait. It may be called again for a cell that is done: it must be safe to repeat.
 */
export type TriggerFunction<Message extends TriggerMessage = TriggerMessage> = (
  rowKey: string,
  message: Message,
  schemaless: TriggeredClient,
  call: TriggerCall,
) => unknown;
