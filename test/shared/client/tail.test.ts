import { expect, describe, it } from 'vitest';
import { shardDatabase, shardOf } from '../../../shared/address.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { explain } from '../../../shared/client/explain.ts';
import { queryAll } from '../../../shared/client/pages.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { tail, type TailOffset } from '../../../shared/client/tail.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { SHARDS } from '../../functions/support/fake-deployment.ts';
import { cells, opened, rows } from './opened.ts';

describe('a tail', () => {
  it('gives each cell once, in the order of its shard, and goes on where it was', async () => {
    const trips = opened();
    await putAll(trips, cells(500));
    const seen: string[] = [];
    const last = new Map<number, number>();
    let saved = '{}';
    /** Ends after some cells, as a program that dies does, and begins again from what it kept. */
    for (const most of [120, 120, Infinity]) {
      let count = 0;
      const from = JSON.parse(saved) as TailOffset;
      for await (const { cell, offset } of tail(trips, { from, follow: false, limit: 10 })) {
        expect(cell.added_id).toBe((last.get(cell.shard) ?? 0) + 1);
        last.set(cell.shard, cell.added_id);
        seen.push(`${cell.row_key}/${cell.ref_key}`);
        saved = JSON.stringify(offset);
        count += 1;
        if (count === most) break;
      }
    }
    expect(new Set(seen).size).toBe(500);
    expect(seen).toHaveLength(500);
  });

  it('follows, outlasts an outage and a hole, and ends with the signal', async () => {
    let [fails, holes] = [2, 2];
    const trips = opened(
      (real) => ({
        async log(locations, options) {
          if ((fails -= 1) >= 0) throw new SchemalessError('unavailable', 'no node');
          const logs = await real.log(locations, options);
          if ((holes -= 1) < 0) return logs;
          const afterOf = (of: number): number => locations.find(({ shard }) => shard === of)?.after ?? 0;
          return logs.map((log) => (log.error ? log : { ...log, cells: [], more: true, next: afterOf(log.shard) }));
        },
      }),
      { attempts: 1 },
    );
    const stop = new AbortController();
    const told: SchemalessError[] = [];
    const got: number[] = [];
    await putAll(trips, cells(3));
    let more: Promise<unknown> | undefined;
    const options = { from: 'start', pollMs: 20, onError: (error: SchemalessError) => void told.push(error) } as const;
    for await (const { cell } of tail(trips, { ...options, signal: stop.signal })) {
      got.push((cell.body as { readonly place: number }).place);
      if (got.length === 3) more = putAll(trips, cells(6));
      if (got.length === 6) stop.abort();
    }
    await more;
    expect(got.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(told.map(({ code }) => code)).toEqual(['unavailable', 'unavailable']);
  });

  it('begins at the ends, or at a time, and says what is no shard', async () => {
    const trips = opened();
    await putAll(trips, cells(40));
    expect(await Array.fromAsync(tail(trips, { follow: false }))).toEqual([]);
    const since = '2020-01-01T00:00:00Z';
    expect(await Array.fromAsync(tail(trips, { from: { since }, follow: false }))).toHaveLength(40);
    const [shard] = [shardOf(rows[0] ?? '', SHARDS)];
    const some = await Array.fromAsync(tail(trips, { shards: [shard], from: 'start', follow: false }));
    expect(new Set(some.map(({ cell }) => cell.shard))).toEqual(new Set([shard]));
    const none = Array.fromAsync(tail(trips, { shards: [SHARDS], from: 'start', follow: false }));
    await expect(none).rejects.toMatchObject({ code: 'unknown_shard' });
  });
});

it('explain says what a call sends without making it, and refuses what the call would', async () => {
  const [row_key = ''] = rows;
  const trips = opened();
  const shard = shardOf(row_key, SHARDS);
  const database = shardDatabase('trips', shard);
  const cell = { row_key, column_name: 'BASE', ref_key: 1 };
  expect(await explain(trips, (call) => call.put({ ...cell, body: { a: 1 } }))).toEqual({
    method: 'PUT',
    path: `/v1/trips/cells/${row_key}/BASE/1`,
    query: {},
    body: { a: 1 },
    rows: [{ row_key, shard, group: 'memory', database }],
  });
  expect((await trips.get(cell)).cell).toBeNull();
  const batch = await explain(trips, (call) => call.batchGet([{ row_key, column_name: 'BASE' }]));
  expect(batch).toMatchObject({ method: 'POST', path: '/v1/trips/batch-get', rows: [{ shard }] });
  const refused = explain(trips, (call) => call.get({ ...cell, row_key: 'x' }));
  await expect(refused).rejects.toMatchObject({ code: 'invalid_field', field: 'row_key' });
});

describe('own writes', () => {
  const SERVED = { served_by: 'writer', stale: false } as const;
  const [row_key = ''] = rows;

  it('are asked for when a reader is, and the number of shards once', async () => {
    const asked: unknown[] = [];
    let heads = 0;
    const trips = opened(
      (real) => ({
        heads: (options) => ((heads += 1), real.heads(options)),
        row: async (_row, { read, min_added_id } = {}) => (
          asked.push([read, min_added_id]),
          { cells: [], next: null, ...SERVED }
        ),
      }),
      { readOwnWrites: true },
    );
    await trips.row(row_key, { read: 'reader' });
    await trips.put({ row_key, column_name: 'A', ref_key: 0, body: 1 });
    await trips.batchPut([{ row_key, column_name: 'A', ref_key: 1, body: 1 }]);
    await trips.row(row_key);
    await trips.row(row_key, { read: 'reader' });
    await trips.with({ deadlineMs: 5000 }).row(row_key, { read: 'reader', min_added_id: 9 });
    expect(asked).toEqual([
      ['reader', undefined],
      [undefined, undefined],
      ['reader', 2],
      ['reader', 9],
    ]);
    expect(heads).toBe(1);
  });

  it('are read from the writer if the shards are unknown', async () => {
    const asked: unknown[] = [];
    const trips = opened(
      {
        heads: () => Promise.reject(new SchemalessError('unavailable', 'no node')),
        row: async (_row, { read } = {}) => (asked.push(read), { cells: [], next: null, ...SERVED }),
      },
      { readOwnWrites: true, attempts: 1 },
    );
    await trips.put({ row_key, column_name: 'A', ref_key: 0, body: 1 });
    await trips.row(row_key, { read: 'reader' });
    expect(asked).toEqual(['writer']);
  });
});

it('all entries of a query come, page by page', async () => {
  const pages = [
    { entries: [{ row_key: 'a', fields: {} }], next: 'x' },
    { entries: [{ row_key: 'b', fields: {} }], next: null },
  ];
  const asked: unknown[] = [];
  const query: SchemalessClient['query'] = async ({ after }) => {
    asked.push(after);
    return { ...(pages[asked.length - 1] ?? { entries: [], next: null }), served_by: 'writer', stale: false };
  };
  const entries = await Array.fromAsync(queryAll({ query }, { index: 'i', where: {} }));
  expect(entries.map((entry) => entry.row_key)).toEqual(['a', 'b']);
  expect(asked).toEqual([undefined, 'x']);
});
