import { expect, it } from 'vitest';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { changed, holesOf, takePicture } from './picture.ts';

/** A log of a row that stays and of one that is erased. */
const storeOf = (...bodies: readonly object[]) => {
  const cells = ['stays', 'erased'].map((row_key, position) => ({
    row_key,
    column_name: 'BASE',
    ref_key: 1,
    created_at: '2026-01-31T08:00:00.000000Z',
    added_id: position + 1,
    body: bodies[position],
  }));
  return {
    heads: async () => [{ shard: 0, head: cells.length }],
    digest: async () => ({ at: cells.length, digest: '', more: false }),
    log: async () => [{ shard: 0, cells, next: cells.length }],
    query: async () => ({ entries: [], next: null }),
  } as unknown as SchemalessClient;
};

it('sees another body of a row that stays, and ignores one of a row that is erased', async () => {
  const written = { erased: [{ row_key: 'erased', column_name: 'BASE', ref_key: 1, body: {} }], kept: [], others: [] };
  const [first, erased, other] = await Promise.all(
    [storeOf({ is: 1 }, { is: 2 }), storeOf({ is: 1 }, {}), storeOf({ is: 3 }, { is: 2 })].map((client) =>
      takePicture(client, written),
    ),
  );
  if (!first || !erased || !other) throw new Error('wanted three pictures');
  expect(changed(first.places, erased.places)).toEqual({ wrong: 0, of: 2 });
  expect(changed(first.places, other.places)).toEqual({ wrong: 1, of: 2 });
});

it('counts changed and missing cells', () => {
  const now = new Map(Object.entries({ same: 'a', other: 'x', more: 'd' }));
  expect(changed(new Map(Object.entries({ same: 'a', other: 'b', gone: 'c' })), now)).toEqual({ wrong: 2, of: 3 });
});

it('counts added ids without a cell', () => {
  expect(holesOf({ heads: new Map([[3, 3]]), places: new Map(Object.entries({ '3/1': 'a', '3/3': 'c' })) })).toEqual({
    wrong: 1,
    of: 3,
  });
});
