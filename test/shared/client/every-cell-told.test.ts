import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { putAll, type PutEnd } from '../../../shared/client/put-all.ts';
import { cells, opened } from './opened.ts';

describe('every cell that is given is stored, or told', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 65])(
    'with %d batches at once nothing is begun, and that is said',
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
    const trips = opened((real) => ({
      batchPut(some) {
        sent.push(...some.map(({ row_key, ref_key }) => `${row_key}/${ref_key}`));
        return real.batchPut(some);
      },
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
    // What was sent was sent once, and each of it was told.
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
        // As a feed that is quiet: nobody would ever end it.
        setImmediate(() => stop.abort());
        await new Promise(() => undefined);
      } finally {
        returned = true;
      }
    }
    const { stored, undone } = await putAll(opened(), slowly(), { signal: stop.signal });
    expect(stored + undone.length).toBe(3);
    expect(returned).toBe(false);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('also where the shards are not told before the signal comes', async () => {
    const stop = new AbortController();
    const trips = opened({
      heads: () => {
        stop.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await putAll(trips, cells(3), { signal: stop.signal })).toMatchObject({ stored: 0, undone: [] });
  });
});

it('each key is looked at a few times, however many there are', async () => {
  let looks = 0;
  const keys = new Proxy([...cells(3000)], {
    get(target, property, receiver) {
      looks += 1;
      return Reflect.get(target, property, receiver);
    },
  });
  expect(await getAll(opened(), keys)).toEqual(keys.map(() => null));
  expect(looks).toBeLessThan(10 * 3000);
});

describe('a put without a ref key of which nobody knows', () => {
  const [first] = cells(1);
  const next = { row_key: first?.row_key ?? '', column_name: 'NOTES', body: 'once' };

  it('says at which ref key to repeat it, so that there is one cell', async () => {
    let isAnswered = false;
    const trips = opened(
      (real) => ({
        async put(cell, options) {
          const result = await real.put(cell, options);
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
