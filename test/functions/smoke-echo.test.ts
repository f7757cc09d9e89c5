import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/smoke-echo.ts';
import type { TriggerMessage } from '../../functions/triggers/trigger-handler.ts';
import { PermanentFailure } from '../../shared/triggers/consume/permanent-failure.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { triggeredClient } from './support/triggered-client.ts';

const store = referenceStore('smoke', 4);
const client = triggeredClient(store);

async function call(message: Pick<TriggerMessage, 'row_key' | 'ref_key'>): Promise<void> {
  const rest = {
    datastore: 'smoke',
    trigger: 'echo',
    shard: 0,
    added_id: 1,
    column_name: 'CALL',
    created_at: '2026-01-31T08:00:00.000000Z',
    replay: false,
    generation: 0,
  };
  const { signal } = new AbortController();
  await handler.fn(message.row_key, { ...rest, ...message }, client, { signal, attempt: 1 });
}

describe('echo', () => {
  it('answers a CALL with an ECHO of its body, and may be called again', async () => {
    const address = { row_key: randomUUID(), ref_key: 7 };
    await store.put({ ...address, column_name: 'CALL', body: { said: 'something' } });
    await call(address);
    await call(address);
    expect((await store.row(address.row_key, { columns: ['ECHO'] })).cells).toMatchObject([
      { ...address, body: { said: 'something' } },
    ]);
  });

  it('fails, to be called again, while the CALL cannot be read', async () => {
    await expect(call({ row_key: randomUUID(), ref_key: 1 })).rejects.toThrow('cannot be read yet');
  });

  it('is parked where somebody else has written the ECHO', async () => {
    const address = { row_key: randomUUID(), ref_key: 1 };
    await store.put({ ...address, column_name: 'CALL', body: 'a' });
    await store.put({ ...address, column_name: 'ECHO', body: 'b' });
    await expect(call(address)).rejects.toThrow(PermanentFailure);
  });
});
