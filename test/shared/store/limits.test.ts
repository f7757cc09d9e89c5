import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, type Cell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/store/datastore.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

/** Seven do not fit into one answer of 4 MiB; deflated they are tiny, so that only their decoded size can tell. */
const LARGE = 'x'.repeat(650_000);
const COUNT = 14;

let store: RealStore;
let trips: Datastore;
let row_key: string;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: 3 }, bufferCopies: 0 });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  [row_key = ''] = rowsOfShard(0, 3, 1);
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1) await trips.put(cellOf({ row_key, ref_key, body: LARGE }));
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1) await trips.put(cellOf({ row_key, column_name: `COLUMN ${String(ref_key).padStart(2, '0')}`, body: LARGE }));
});

afterAll(() => store.close());

/** Reads a list to its end; every page has to stay under the limit of an answer. */
async function readAll<Next>(page: (after: Next | undefined) => Promise<{ readonly cells: readonly Cell[]; readonly next: Next | null }>): Promise<Cell[]> {
  const cells: Cell[] = [];
  let after: Next | undefined;
  for (let pages = 0; pages < 2 * COUNT; pages += 1) {
    const { cells: some, next } = await page(after);
    expect(some.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0)).toBeLessThanOrEqual(LIMITS.answerBytes);
    cells.push(...some);
    if (next === null) return cells;
    after = next;
  }
  throw new Error('a list without end');
}

describe('an answer of 4 MiB', () => {
  it('ends a list of versions, a row and a log early, and the list goes on after it', async () => {
    const refKeys = (await readAll<number>((after) => trips.versions({ row_key, column_name: 'BASE' }, { order: 'asc', after }))).map(({ ref_key }) => ref_key);
    expect(refKeys).toEqual(Array.from({ length: COUNT }, (_, place) => place));
    expect(await readAll<string>((after) => trips.row(row_key, { after }))).toHaveLength(COUNT + 1);

    const ids: number[] = [];
    for (let after = 0; ids.length < 2 * COUNT; ) {
      const [log] = await trips.log([{ shard: 0, after }], { limit: 1000 });
      if (!log || log.error) throw new Error('no log');
      expect(log.cells.length).toBeLessThan(7);
      ids.push(...log.cells.map(({ added_id }) => added_id));
      after = log.next;
    }
    expect(ids).toEqual(ids.map((_, place) => place + 1));
  });

  it('is shared by the shards of one log read: those that find no room answer nothing, and stay where they are', async () => {
    const logs = await trips.log([{ shard: 0, after: 0 }, { shard: 0, after: 0 }, { shard: 0, after: 0 }], { limit: 1000 });
    const sizes = logs.map((log) => (log.error ? Number.NaN : log.cells.length));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(9);
    for (const log of logs) expect(!log.error && log.next).toBe(!log.error && log.cells.length);
  });

  it('leaves no room for further items of a batch: each says so for itself', async () => {
    const items = await trips.batchGet(Array.from({ length: COUNT }, (_, ref_key) => ({ row_key, column_name: 'BASE', ref_key })));
    const answered = items.filter((item) => item && 'body' in item);
    expect(answered.length).toBeGreaterThan(4);
    expect(answered.length).toBeLessThan(7);
    for (const item of items.slice(answered.length)) expect(item).toMatchObject({ error: { code: 'answer_too_large', details: { address: { row_key } } } });
  });
});

describe('a hole in the log', () => {
  it('stops every reader in front of it until it is filled', async () => {
    const name = store.nameOf('trips');
    const client = store.client((await store.topology.datastore(name))?.places[1]?.group ?? '');
    // As a reader meets a commit that its snapshot does not show yet.
    const insert = (id: number) =>
      client.change({ sql: `INSERT INTO \`${name}_0001\`.entity VALUES (?, UNHEX('00000000000000000000000000000000'), 'X', ?, X'02C0', '2026-01-01 00:00:00')`, parameters: [id, id] });
    for (const id of [1, 2, 4, 5]) await insert(id);
    const read = async (after: number) => {
      const [log] = await trips.log([{ shard: 1, after }]);
      return !log || log.error ? undefined : { ids: log.cells.map(({ added_id }) => added_id), next: log.next };
    };
    expect(await read(0)).toEqual({ ids: [1, 2], next: 2 });
    expect(await read(2)).toEqual({ ids: [], next: 2 });
    await insert(3);
    expect(await read(2)).toEqual({ ids: [3, 4, 5], next: 5 });
  });
});
