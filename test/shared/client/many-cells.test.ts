import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { explain } from '../../../shared/client/explain.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { queryAll, versions } from '../../../shared/client/pages.ts';
import { putAll, type PutEnd } from '../../../shared/client/put-all.ts';
import { tail, type TailOffset } from '../../../shared/client/tail.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardDatabase, shardOf } from '../../../shared/address.ts';
import { SHARDS } from '../../functions/support/fake-deployment.ts';
import { cells, opened, rows } from './opened.ts';

const UNAVAILABLE: PutResult = { outcome: 'unavailable', shard: 0, reason: 'its group is away' };

describe('any number of cells', () => {
  it('are stored in batches, those of a row in their order', async () => {
    const sizes: number[] = [];
    /** Rows of which a batch was begun before the one before had ended. */
    const [underWay, overtaken]: [Set<string>, string[]] = [new Set(), []];
    const trips = opened((real) => ({
      async batchPut(some) {
        sizes.push(some.length);
        const ofBatch = new Set(some.map(({ row_key }) => row_key));
        for (const row of ofBatch) if (underWay.has(row)) overtaken.push(row);
        for (const row of ofBatch) underWay.add(row);
        await turn();
        const results = await real.batchPut(some);
        for (const row of ofBatch) underWay.delete(row);
        return results;
      },
    }));
    const given = cells(1234);
    const nothing = {
      stored: 0,
      stored_before: 0,
      buffered: 0,
      conflict: 0,
      erased: 0,
      subject_forgotten: 0,
      undone: [],
    };
    expect(await putAll(trips, given, { concurrency: 3 })).toEqual({ ...nothing, stored: 1234 });
    expect(overtaken).toEqual([]);
    expect(Math.max(...sizes)).toBe(100);
    expect(sizes.length).toBeLessThan(20);
    for (const row_key of rows) {
      const column = await Array.fromAsync(
        versions(trips, { row_key, column_name: 'BASE' }, { order: 'asc', limit: 7 }),
      );
      const addedIds = column.map(({ added_id }) => added_id);
      expect(addedIds).toEqual(addedIds.toSorted((a, b) => a - b));
      expect(column.map(({ ref_key }) => ref_key)).toEqual(column.map((_, position) => position));
    }
    expect(await putAll(trips, given)).toMatchObject({ stored: 0, stored_before: 1234, undone: [] });
  });

  it('that were erased are counted, and returned, since nothing brings them back', async () => {
    const trips = opened({ batchPut: async (some) => some.map(() => ({ outcome: 'erased', shard: 0 })) });
    const { stored, erased, undone } = await putAll(trips, cells(2));
    expect([stored, erased, undone.map(({ error }) => error.code)]).toEqual([0, 2, ['erased', 'erased']]);
  });

  it('that are refused, in conflict or not confirmed are returned, each alone', async () => {
    const given = [...cells(250)];
    given[7] = { ...(given[7] as NewCell), row_key: 'no UUID' };
    given[8] = { ...(given[8] as NewCell), body: { when: new Date() as unknown as string } };
    const away = given[9] as NewCell;
    const trips = opened((real) => ({
      batchPut: async (some) => {
        const results = await real.batchPut(some.filter((cell) => cell.row_key !== away.row_key));
        const left = [...results];
        return some.map((cell) => (cell.row_key === away.row_key ? UNAVAILABLE : (left.shift() ?? UNAVAILABLE)));
      },
    }));
    await trips.put({ ...(given[10] as NewCell), body: 'another' });
    const ends: PutEnd[] = [];
    const { stored, conflict, undone } = await putAll(trips, given, { tries: 2, onResult: (end) => ends.push(end) });
    const codes = new Map(undone.map(({ position, error }) => [position, error.code]));
    expect([7, 8, 9, 10].map((at) => codes.get(at))).toEqual([
      'invalid_field',
      'invalid_field',
      'unavailable',
      'conflict',
    ]);
    expect(conflict).toBe(1);
    expect(stored + undone.length).toBe(250);
    expect(ends.map(({ position }) => position).sort((a, b) => a - b)).toEqual(given.map((_, position) => position));
  });

  it('that are unavailable for a while are tried again', async () => {
    let refused = 0;
    const trips = opened((real) => ({
      batchPut: async (some) => {
        const results = await real.batchPut(some);
        return results.map((result) => (refused < 30 && (refused += 1) ? UNAVAILABLE : result));
      },
    }));
    const result = await putAll(trips, cells(200));
    expect(result.undone).toEqual([]);
    expect(result.stored + result.stored_before).toBe(200);
    expect(refused).toBe(30);
  });

  it('that a server takes no batch of cost themselves alone', async () => {
    const trips = opened((real) => ({
      batchPut: async (some) => {
        const wrong = some.findIndex(({ ref_key }) => ref_key === 3);
        if (wrong >= 0)
          throw new SchemalessError('body_too_large', 'too large here', {
            field: `cells[${wrong}].body`,
            wanted: 'less',
          });
        if (some.length > 20) throw new SchemalessError('request_too_large', 'too many here');
        return real.batchPut(some);
      },
    }));
    const { stored, undone } = await putAll(trips, cells(150));
    expect(stored).toBe(120);
    expect(undone.map(({ error, cell }) => [error.code, cell.ref_key])).toEqual(
      Array.from({ length: 30 }, () => ['body_too_large', 3]),
    );
  });

  it('end with the signal, and what was taken is told', async () => {
    const stop = new AbortController();
    let taken = 0;
    function* given(): Generator<NewCell> {
      for (const cell of cells(1000)) {
        taken += 1;
        if (taken === 450) stop.abort();
        yield cell;
      }
    }
    const { stored, undone } = await putAll(opened(), given(), { signal: stop.signal });
    expect(stored + undone.length).toBe(taken);
    expect(taken).toBeLessThan(1000);
    expect(undone.length).toBeGreaterThan(0);
  });

  it('are read in their order, those that have no room in the next answer', async () => {
    const given = cells(330);
    const room = new SchemalessError('answer_too_large', 'no room');
    const trips = opened((real) => ({
      batchGet: async (keys) => {
        const items = await real.batchGet(keys);
        return items.map((item, position) => (position < 40 ? item : { error: room }));
      },
    }));
    await putAll(trips, given);
    const keys = [...given, { row_key: randomUUID(), column_name: 'BASE' }];
    const items = await getAll(trips, keys);
    expect(items.at(-1)).toBeNull();
    expect(items.slice(0, -1)).toMatchObject(given);
  });

  it('that cannot be read are errors in their places', async () => {
    const error = new SchemalessError('unavailable', 'its group is away');
    const trips = opened({ batchGet: async (keys) => keys.map(() => ({ error })) });
    expect(await getAll(trips, cells(2), { tries: 2 })).toMatchObject([
      { error: { code: 'unavailable' } },
      { error: { code: 'unavailable' } },
    ]);
    await expect(getAll(trips, [{ row_key: 'x', column_name: 'A' }])).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'keys[0].row_key',
    });
  });
});

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
          if (fails > 0) {
            fails -= 1;
            throw new SchemalessError('unavailable', 'no node');
          }
          const logs = await real.log(locations, options);
          if (holes === 0) return logs;
          holes -= 1;
          return logs.map((log) =>
            log.error
              ? log
              : { ...log, cells: [], more: true, next: locations.find(({ shard }) => shard === log.shard)?.after ?? 0 },
          );
        },
      }),
      { attempts: 1 },
    );
    const stop = new AbortController();
    const told: SchemalessError[] = [];
    const got: number[] = [];
    await putAll(trips, cells(3));
    let more: Promise<unknown> | undefined;
    for await (const { cell } of tail(trips, {
      from: 'start',
      signal: stop.signal,
      pollMs: 20,
      onError: (error) => told.push(error),
    })) {
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
    await expect(
      Array.fromAsync(tail(trips, { shards: [SHARDS], from: 'start', follow: false })),
    ).rejects.toMatchObject({ code: 'unknown_shard' });
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
  const [row_key = ''] = rows;

  it('are asked for when a reader is, and the number of shards once', async () => {
    const asked: unknown[] = [];
    let heads = 0;
    const trips = opened(
      (real) => ({
        heads(options) {
          heads += 1;
          return real.heads(options);
        },
        row: async (_row, options = {}) => {
          asked.push([options.read, options.min_added_id]);
          return { cells: [], next: null, served_by: 'reader', stale: true };
        },
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

  it('are read from the writer where nobody says which shards there are', async () => {
    const asked: unknown[] = [];
    const trips = opened(
      {
        heads: () => Promise.reject(new SchemalessError('unavailable', 'no node')),
        row: async (_row, options = {}) => {
          asked.push(options.read);
          return { cells: [], next: null, served_by: 'writer', stale: false };
        },
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
  const entries = await Array.fromAsync(queryAll({ query }, { index: 'i', where: [] }));
  expect(entries.map((entry) => entry.row_key)).toEqual(['a', 'b']);
  expect(asked).toEqual([undefined, 'x']);
});
