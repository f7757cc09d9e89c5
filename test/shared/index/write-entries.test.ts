import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { StoreContext } from '../../../shared/access/context.ts';
import { writeEntries } from '../../../shared/index/write-entries.ts';
import { indexOn } from '../../support/index-on.ts';

const MOST = 500;
const INDEX = { name: 'by_city', hash: 'a1', definition: indexOn('by_city', { city: 'string' }) };

it('a locked index table keeps a bounded number of writes in memory, and no other table waits', async () => {
  const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>();
  let sent = 0;
  const client = {
    abilities: {},
    async change({ table }: { readonly table: string }) {
      if (!table.includes('_0000')) return;
      sent += 1;
      await unlocked;
    },
  };
  const context = {
    topology: { datastore: async () => ({ homes: [0, 1].map(() => ({ group: 'group-1', epoch: 1 })) }) },
    groups: { client: async () => client },
    found: { entries: new Map() },
  } as unknown as StoreContext;
  const write = (shard: number) =>
    writeEntries(context, 'trips', [
      {
        index: INDEX,
        shard,
        row: { row_key: randomUUID(), values: ['Rome'], tombstone: false, version: { epoch: 1, added_id: 1 } },
      },
    ]);
  const waiting = Array.from({ length: MOST }, () => write(0));
  const [more] = await write(0);
  expect([sent, more?.error]).toEqual([MOST, expect.objectContaining({ code: 'overloaded' })]);
  expect(await write(1)).toEqual([]);
  unlock();
  expect((await Promise.all(waiting)).flat()).toEqual([]);
  expect(await write(0)).toEqual([]);
});
