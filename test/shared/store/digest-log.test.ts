import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import type { StoreContext } from '../../../shared/access/context.ts';
import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { SqlRow } from '../../../shared/sql/client.ts';
import { digestReads } from '../../../shared/store/digest-log.ts';

afterEach(() => void vi.restoreAllMocks());

const CELLS = 5;
const body = encodeBody({ a: 1 });
const log: readonly SqlRow[] = Array.from({ length: CELLS }, (_, at) => [
  0,
  0,
  at + 1,
  rowKeyBytes(randomUUID()),
  Buffer.from('BASE'),
  1,
  body,
  '2026-01-31 08:00:00.000000',
]);

const context = {
  topology: { datastore: async () => ({ datastore: 'trips', shards: 1, homes: [{ group: 'group-1', epoch: 1 }] }) },
  groups: {
    client: async () => ({
      abilities: { readsFromReaders: false, bounds: { pageBytes: 1_000_000 } },
      nodes: 1,
      select: async ({ parameters: [after] }: { readonly parameters: readonly unknown[] }) => [
        ...log.slice(Number(after)),
        [0, 0, CELLS, null, null, null, null, null],
      ],
    }),
  },
  admit: async (_group: string, ask: () => unknown) => ask(),
} as unknown as StoreContext;

it('an answer ends in time within a page, too, where its bodies take long, and is gone on from', async () => {
  const { digest } = digestReads(context, 'trips', 1);
  const whole = await digest({ shard: 0 });
  expect(whole).toMatchObject({ at: CELLS, more: false });
  // Each reading of the clock finds that a body has taken three seconds.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 3000));
  const places: number[] = [];
  let reached = await digest({ shard: 0 });
  for (; reached.more; reached = await digest({ shard: 0, after: reached.at, digest: reached.digest }))
    places.push(reached.at);
  expect([places.length >= 2, reached]).toEqual([true, whole]);
});
