import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { versions } from '../../../shared/client/pages.ts';
import type { PutEnd } from '../../../shared/client/batch-writer.ts';
import { putAll, tryPutAll } from '../../../shared/client/put-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
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
    expect(await tryPutAll(trips, given, { concurrency: 3 })).toEqual({ ...nothing, stored: 1234 });
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
    expect(await tryPutAll(trips, given)).toMatchObject({ stored: 0, stored_before: 1234, undone: [] });
  });

  it('that were erased are counted, and returned, since nothing brings them back', async () => {
    const trips = opened({ batchPut: async (some) => some.map(() => ({ outcome: 'erased', shard: 0 })) });
    await expect(putAll(trips, cells(2))).rejects.toMatchObject({ code: 'erased', result: { erased: 2 } });
    const { stored, erased, undone } = await tryPutAll(trips, cells(2));
    expect([stored, erased, undone.map(({ error }) => error.code)]).toEqual([0, 2, ['erased', 'erased']]);
  });

  it('that are refused, in conflict or not confirmed are returned, each alone', async () => {
    const given = [...cells(250)];
    given[7] = { ...(given[7] as NewCell), row_key: 'no UUID' };
    given[8] = { ...(given[8] as NewCell), body: { when: new Date() as unknown as string } };
    const unavailable = given[9] as NewCell;
    const trips = opened((real) => ({
      batchPut: async (some) => {
        const results = await real.batchPut(some.filter((cell) => cell.row_key !== unavailable.row_key));
        const left = [...results];
        return some.map((cell) => (cell.row_key === unavailable.row_key ? UNAVAILABLE : (left.shift() ?? UNAVAILABLE)));
      },
    }));
    await trips.put({ ...(given[10] as NewCell), body: 'another' });
    const ends: PutEnd[] = [];
    const { stored, conflict, undone } = await tryPutAll(trips, given, { tries: 2, onResult: (end) => ends.push(end) });
    const codes = new Map(undone.map(({ position, error }) => [position, error.code]));
    const wanted = ['invalid_field', 'invalid_field', 'unavailable', 'conflict'];
    expect([7, 8, 9, 10].map((at) => codes.get(at))).toEqual(wanted);
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
    const result = await tryPutAll(trips, cells(200));
    expect(result.undone).toEqual([]);
    expect(result.stored + result.stored_before).toBe(200);
    expect(refused).toBe(30);
  });

  it('that a server takes no batch of cost themselves alone', async () => {
    const trips = opened((real) => ({
      batchPut: async (some) => {
        const field = `cells[${some.findIndex(({ ref_key }) => ref_key === 3)}].body`;
        if (some.some(({ ref_key }) => ref_key === 3))
          throw new SchemalessError('body_too_large', 'too large', { field });
        if (some.length > 20) throw new SchemalessError('request_too_large', 'too many here');
        return real.batchPut(some);
      },
    }));
    const { stored, undone } = await tryPutAll(trips, cells(150));
    expect(stored).toBe(120);
    expect(undone).toHaveLength(30);
    for (const { error, cell } of undone) expect([error.code, cell.ref_key]).toEqual(['body_too_large', 3]);
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
    const { stored, undone } = await tryPutAll(opened(), given(), { signal: stop.signal });
    expect(stored + undone.length).toBe(taken);
    expect(taken).toBeLessThan(1000);
    expect(undone.length).toBeGreaterThan(0);
    await expect(putAll(opened(), cells(1), { signal: stop.signal })).rejects.toMatchObject({ code: 'unavailable' });
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
    const unread = { error: { code: 'unavailable' } };
    expect(await getAll(trips, cells(2), { tries: 2 })).toMatchObject([unread, unread]);
    const refused = { code: 'invalid_field', field: 'keys[0].row_key' };
    await expect(getAll(trips, [{ row_key: 'x', column_name: 'A' }])).rejects.toMatchObject(refused);
  });
});

describe('every cell that is given is stored, or told', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 65])(
    'but %d batches at once are refused before any request',
    async (concurrency) => {
      const asked: string[] = [];
      const trips = opened((real) => ({
        heads: (options) => (asked.push('heads'), real.heads(options)),
        batchPut: (some) => (asked.push('batchPut'), real.batchPut(some)),
        batchGet: (some) => (asked.push('batchGet'), real.batchGet(some)),
      }));
      const refused = { code: 'invalid_field', field: 'concurrency', wanted: 'an integer from 1 to 64' };
      await expect(putAll(trips, cells(250), { concurrency })).rejects.toMatchObject(refused);
      await expect(getAll(trips, cells(250), { concurrency })).rejects.toMatchObject(refused);
      expect(asked).toEqual([]);
    },
  );

  it('once, whatever the caller does who is told of it', async () => {
    const sent: string[] = [];
    const trips = opened(({ batchPut }) => ({
      batchPut: (some) => (sent.push(...some.map(({ row_key, ref_key }) => `${row_key}/${ref_key}`)), batchPut(some)),
    }));
    const ends: PutEnd[] = [];
    const mistake = new Error('a mistake of the caller');
    const told = putAll(trips, cells(250), {
      concurrency: 2,
      onResult(end) {
        ends.push(end);
        if (ends.length === 3) throw mistake;
      },
    });
    await expect(told).rejects.toBe(mistake);
    expect(ends.map(({ result }) => result?.outcome)).toEqual(ends.map(() => 'stored'));
    expect(new Set(ends.map(({ position }) => position)).size).toBe(ends.length);
    // Each sent cell was sent once and reported.
    expect(new Set(sent).size).toBe(sent.length);
    expect(ends).toHaveLength(sent.length);
  });

  it('also while nothing more comes of those that are given', async () => {
    const stop = new AbortController();
    const given = cells(3);
    let returned = false;
    async function* slowly(): AsyncGenerator<NewCell> {
      try {
        yield* given;
        // Like a quiet feed, which never ends.
        setImmediate(() => stop.abort());
        await new Promise(() => undefined);
      } finally {
        returned = true;
      }
    }
    const { stored, undone } = await tryPutAll(opened(), slowly(), { signal: stop.signal });
    expect(stored + undone.length).toBe(3);
    expect(returned).toBe(false);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('also where the shards are not told before the signal comes', async () => {
    const stop = new AbortController();
    const trips = opened({ heads: () => (stop.abort(), new Promise(() => undefined)) });
    expect(await tryPutAll(trips, cells(3), { signal: stop.signal })).toMatchObject({ stored: 0, undone: [] });
  });
});

it('each key is read a few times, however many there are', async () => {
  let polls = 0;
  const keys = new Proxy([...cells(3000)], {
    get(target, property, receiver) {
      polls += 1;
      return Reflect.get(target, property, receiver);
    },
  });
  expect(await getAll(opened(), keys)).toEqual(keys.map(() => null));
  expect(polls).toBeLessThan(10 * 3000);
});

describe('a put without a ref key whose outcome is unknown', () => {
  const [first] = cells(1);
  const next = { row_key: first?.row_key ?? '', column_name: 'NOTES', body: 'once' };

  it('says at which ref key to repeat it, so that there is one cell', async () => {
    let isAnswered = false;
    const trips = opened(
      (real) => ({
        async put(cell) {
          const result = await real.put(cell);
          if (isAnswered) return result;
          throw new SchemalessError('unavailable', 'no answer');
        },
      }),
      { attempts: 2, retryBudget: false },
    );
    const error = await trips.put(next).catch((thrown: unknown) => thrown);
    const address = { row_key: next.row_key, column_name: 'NOTES', ref_key: 0 };
    expect(error).toMatchObject({ code: 'unavailable', retry: 'later', details: { address } });
    isAnswered = true;
    expect(await trips.put({ ...address, body: next.body })).toMatchObject({ outcome: 'stored_before' });
    expect((await trips.versions(address)).cells).toHaveLength(1);
  });

  it('names no address where nothing can have been written', async () => {
    const trips = opened(
      { getLatest: () => Promise.reject(new SchemalessError('unavailable', 'no node')) },
      { attempts: 1 },
    );
    const error = await trips.putNext(next).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect((error as SchemalessError).details.address).toBeUndefined();
  });
});
