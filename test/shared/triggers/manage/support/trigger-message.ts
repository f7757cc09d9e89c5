import { randomUUID } from 'node:crypto';
import type { TriggerMessage } from '../../../../../shared/triggers/state/message.ts';

/** A message of a cell of some shard. */
export function triggerMessage(shard: number, addedId: number, more: Partial<TriggerMessage> = {}): TriggerMessage {
  return {
    datastore: 'trips',
    trigger: 'bill_rider',
    shard,
    added_id: addedId,
    row_key: randomUUID(),
    column_name: 'BASE',
    ref_key: 1,
    created_at: '2026-01-31T08:00:00.000000Z',
    replay: false,
    generation: 0,
    ...more,
  };
}
