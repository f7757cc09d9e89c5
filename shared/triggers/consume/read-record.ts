import { invalidField } from '../../errors.ts';
import type { TriggerMessage } from '../state/message.ts';
import { parseMessage } from '../state/queue-message.ts';
import type { QueueRecord } from './queue-record.ts';

/** The message that a record carries, or why it carries none. */
export type ReadRecord =
  | { readonly message: TriggerMessage; readonly error?: undefined }
  | { readonly message?: undefined; readonly error: unknown };

/** A message of another datastore or trigger cannot be consumed here, either. */
export function readRecord({ body }: QueueRecord, datastore: string, trigger: string): ReadRecord {
  try {
    const message = parseMessage(body);
    if (message.datastore !== datastore) throw invalidField('datastore', datastore, message.datastore);
    if (message.trigger !== trigger) throw invalidField('trigger', trigger, message.trigger);
    return { message };
  } catch (error) {
    return { error };
  }
}
