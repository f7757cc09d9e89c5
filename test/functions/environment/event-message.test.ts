import { expect, it } from 'vitest';
import { eventMessage } from '../../../functions/environment/event-message.ts';

const MESSAGE = { row_key: 'secret', shard: 0, added_id: 40 };

it.each([
  [{ kind: 'failed', message: MESSAGE, attempts: 2, error: 'secret' }, 'bill_rider', 'bill_rider failed at 0:40'],
  [{ kind: 'stopped' }, 'bill_rider', 'bill_rider stopped'],
  [{ kind: 'followed', event: { kind: 'hole', shard: 3, added_id: 17 } }, 'bill_rider', 'bill_rider hole at 3:17'],
  [{ kind: 'circuit_opened', group: 'group-1' }, undefined, 'circuit opened on group-1'],
  [{ kind: 'shard_refused', group: 'group-1', shard: 3 }, undefined, 'shard refused on group-1 in shard 3'],
  [{ kind: 'live', index: 'city_index', datastore: 'trips' }, 'index repair', 'index repair live for city_index'],
])('the message of %j says what happened and where', (event, subject, message) => {
  expect(eventMessage(event, subject)).toBe(message);
});
