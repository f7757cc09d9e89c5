import type { TriggerMessage } from '../state/message.ts';
import type { TriggeredClient } from './triggered-client.ts';

export interface TriggerCall {
  /** Aborted when the call's time is up: give it to whatever the function waits for. */
  readonly signal: AbortSignal;
  /** From 1: how often this cell was tried, this time included, as far as is known. */
  readonly attempt: number;
}

/**
 * What a trigger calls for each cell. The message points to the cell; the function fetches what else it needs. When it
 * throws, or does not answer in time, it is called again for the same cell, and the cells behind it in the shard wait.
 * It may be called more than once for a cell that it has done: what it does has to be safe to repeat.
 */
export type TriggerFunction<Message extends TriggerMessage = TriggerMessage> = (
  rowKey: string,
  message: Message,
  schemaless: TriggeredClient,
  call: TriggerCall,
) => unknown;
