import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LIMITS, type Cell, type Json } from '../../../shared/cell.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { until } from '../../support/until.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const SERVED = { served_by: 'writer', stale: false } as const;
const cellOf = (ref_key: number): Cell => ({
  row_key: ROW,
  column_name: 'BASE',
  ref_key,
  body: { ref_key, large: 2n ** 63n },
  added_id: ref_key,
  shard: 0,
  created_at: '2026-01-31T08:00:00.000000Z',
});

/**
 * A client of a store in memory that has every cell, and what it sent; `answer` may answer in the place of the gateway.
 */
function client(
  changes: Partial<Datastore> = {},
  options: Partial<ClientOptions> = {},
  answer: (path: string) => Response | undefined = () => undefined,
): { trips: SchemalessClient; sent: string[] } {
  const sent: string[] = [];
  const get: Datastore['get'] = async ({ ref_key }) => ({ cell: cellOf(ref_key), ...SERVED });
  const toGateway = gatewayFetch(gateway(fakeDeployment({ get, ...changes })));
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const path = new URL(String(input)).pathname.replace('/v1/trips/', '');
    sent.push(`${init?.method} ${path}`);
    return answer(path) ?? toGateway(input, init);
  };
  return { trips: schemalessClient({ url: 'http://store.test', datastore: 'trips', fetch, ...options }), sent };
}

const alone = (method: 'GET' | 'PUT', ...refKeys: readonly number[]): string[] =>
  refKeys.map((ref_key) => `${method} cells/${ROW}/BASE/${ref_key}`);
const getEach = (trips: SchemalessClient, many: number) =>
  Array.from({ length: many }, (_, ref_key) => trips.get({ row_key: ROW, column_name: 'BASE', ref_key }));
const getMany = (trips: SchemalessClient, many: number) => Promise.all(getEach(trips, many));
const refused = (status: number, problem: object = { message: 'refused' }): Response =>
  new Response(JSON.stringify(problem), { status });

describe('reads that are begun in one turn', () => {
  it('go in few requests, and are answered as each by itself', async () => {
    const { trips, sent } = client();
    const many = LIMITS.batchReads + 4;
    const found = await getMany(trips, many);
    expect(found).toEqual(Array.from({ length: many }, (_, ref_key) => ({ cell: cellOf(ref_key), ...SERVED })));
    expect(sent).toEqual(['POST batch-read', 'POST batch-read']);
  });

  it('go alone where there is one, or the client is told so', async () => {
    const one = client();
    await getMany(one.trips, 1);
    expect(one.sent).toEqual(alone('GET', 0));
    const isolated = client({}, { joinReads: false });
    await getMany(isolated.trips, 2);
    expect(isolated.sent).toEqual(alone('GET', 0, 1));
  });

  it('are cells and rows together, queries apart, and nothing else', async () => {
    const { trips, sent } = client();
    const query = { index: 'driver_index', where: { driver_uuid: DRIVER } };
    const [, row, one, other] = await Promise.all([
      trips.getLatest({ row_key: ROW, column_name: 'NONE' }),
      trips.row(ROW),
      trips.query(query),
      trips.query(query),
      trips.heads(),
      trips.batchGet([]),
      trips.versions({ row_key: ROW, column_name: 'BASE' }),
    ]);
    expect(row).toEqual({ cells: [], next: null, ...SERVED });
    expect(one).toEqual({ entries: [], next: null, ...SERVED });
    expect(other).toEqual(one);
    expect(sent.toSorted()).toEqual([
      `GET cells/${ROW}/BASE/versions`,
      'GET shards',
      'POST batch-get',
      'POST batch-query',
      'POST batch-read',
    ]);
  });

  it('find nothing, or fail, each as it would alone', async () => {
    const { trips } = client({
      getLatest: async () => ({ cell: null, served_by: 'reader', stale: true }),
      row: async () => {
        throw new SchemalessError('answer_too_large', 'too large');
      },
    });
    const [none, failed] = await Promise.allSettled([
      trips.getLatest({ row_key: ROW, column_name: 'BASE' }, { read: 'reader' }),
      trips.row(ROW),
    ]);
    expect(none).toMatchObject({ value: { cell: null, served_by: 'reader', stale: true } });
    expect(failed).toMatchObject({ reason: { name: 'SchemalessError', code: 'answer_too_large' } });
  });

  it.each<[string, () => Promise<void>]>([
    ['was not done with them in time', () => new Promise(() => undefined)],
    ['could not answer them then', () => Promise.reject(new SchemalessError('unavailable', 'group-1 does not answer'))],
  ])('are asked for alone where the server %s', async (_case, first) => {
    let asked = 0;
    const once: Datastore['get'] = async ({ ref_key }) => {
      if (ref_key === 1 && (asked += 1) === 1) await first();
      return { cell: cellOf(ref_key), ...SERVED };
    };
    const { trips, sent } = client({ get: once });
    expect((await getMany(trips, 3)).map(({ cell }) => cell?.ref_key)).toEqual([0, 1, 2]);
    expect(sent).toEqual(['POST batch-read', ...alone('GET', 1)]);
  });

  it.each([429, 503])(
    'are tried again alone where the request was refused with %i, as far as the budget of retries goes',
    async (status) => {
      const { trips, sent } = client({}, {}, (path) => (path === 'batch-read' ? refused(status) : undefined));
      expect((await getMany(trips, 3)).map(({ cell }) => cell?.ref_key)).toEqual([0, 1, 2]);
      expect(sent.toSorted()).toEqual([...alone('GET', 0, 1, 2), 'POST batch-read']);
      const spent = client({}, { attempts: 1 }, (path) => (path === 'batch-read' ? refused(status) : undefined));
      await expect(getMany(spent.trips, 3)).rejects.toMatchObject({ code: 'unavailable' });
      expect(spent.sent).toEqual(['POST batch-read']);
    },
  );

  it('fail each by itself where requests cannot be signed, or their answers not be read', async () => {
    const unsigned = client({}, { sign: () => Promise.reject(new Error('no credentials')) });
    const ends = await Promise.allSettled(getEach(unsigned.trips, 2));
    const unsignedEnd = { reason: { code: 'unavailable', message: expect.stringContaining('no credentials') } };
    expect(ends).toMatchObject([unsignedEnd, unsignedEnd]);
    const broken = client({}, {}, (path) =>
      path === 'batch-read' || path.endsWith('/0')
        ? new Response('{"answers":[', { headers: { 'x-json': 'plain' } })
        : undefined,
    );
    const [failed, found] = await Promise.allSettled(getEach(broken.trips, 2));
    expect(failed).toMatchObject({ reason: { name: 'SchemalessError', code: 'unavailable' } });
    expect(found).toMatchObject({ value: { cell: { ref_key: 1 } } });
  });

  it.each([403, 404])(
    'go alone from then on where a server answers %i: it does not know such requests, or does not let this caller send them',
    async (status) => {
      const { trips, sent } = client({}, { attempts: 1 }, (path) =>
        path === 'batch-read' ? refused(status) : undefined,
      );
      await getMany(trips, 2);
      await getMany(trips, 2);
      expect(sent).toEqual(['POST batch-read', ...alone('GET', 0, 1, 0, 1)]);
    },
  );
});

describe('puts that are begun in one turn, where the client joins them', () => {
  const put = (trips: SchemalessClient, ref_key: number, body: Json = { ref_key }) =>
    trips.tryPut({ row_key: ROW, column_name: 'BASE', ref_key, body });
  const putMany = (trips: SchemalessClient, many: number) =>
    Promise.all(Array.from({ length: many }, (_, ref_key) => put(trips, ref_key)));
  const stored = (added_id: number) => ({ outcome: 'stored', shard: 0, added_id }) as const;
  const UNAVAILABLE = { outcome: 'unavailable', shard: 0, reason: 'group-1 does not answer' } as const;
  const storing: Partial<Datastore> = {
    put: async ({ ref_key }) => stored(ref_key),
    batchPut: async (cells) => cells.map(({ ref_key }) => stored(ref_key)),
  };

  it('go in few requests, and are answered as each by itself', async () => {
    const { trips, sent } = client(storing, { joinPuts: true });
    const many = LIMITS.batchCells + 2;
    expect(await putMany(trips, many)).toEqual(
      Array.from({ length: many }, (_, ref_key) => ({ ...stored(ref_key), ref_key })),
    );
    expect(sent).toEqual(['POST batch-put', 'POST batch-put']);
  });

  it('go alone by default, and where there is one, or its body is long', async () => {
    const isolated = client(storing);
    await putMany(isolated.trips, 2);
    expect(isolated.sent).toEqual(alone('PUT', 0, 1));
    const batching = client(storing, { joinPuts: true });
    await put(batching.trips, 0);
    expect(batching.sent).toEqual(alone('PUT', 0));
    await Promise.all([put(batching.trips, 0, 'x'.repeat(20_000)), put(batching.trips, 1)]);
    expect(batching.sent.slice(1).toSorted()).toEqual(alone('PUT', 0, 1));
  });

  it('have outcomes of their own; one that was not confirmed is sent alone', async () => {
    const conflict = { outcome: 'conflict', shard: 0, added_id: 7 } as const;
    const buffered = { outcome: 'buffered', shard: 0, copies: 1 } as const;
    const { trips, sent } = client(
      { ...storing, batchPut: async () => [conflict, UNAVAILABLE, buffered] },
      { joinPuts: true },
    );
    const ends = [conflict, stored(1), buffered].map((end, ref_key) => ({ ...end, ref_key }));
    expect(await putMany(trips, 3)).toEqual(ends);
    expect(sent).toEqual(['POST batch-put', ...alone('PUT', 1)]);
  });

  it('are not sent once their call has ended while they wait to be signed; the others are', async () => {
    const signing: PromiseWithResolvers<void>[] = [];
    const { trips, sent } = client(storing, {
      joinPuts: true,
      async sign({ headers }) {
        const turn = Promise.withResolvers<void>();
        signing.push(turn);
        await turn.promise;
        return headers;
      },
    });
    const over = new AbortController();
    const ended = put(trips.with({ signal: over.signal }), 0);
    const others = Promise.all([put(trips, 1), put(trips, 2)]);
    await until('one is signed', () => signing.length > 0);
    over.abort();
    expect(await ended).toMatchObject({ outcome: 'unavailable' });
    // All that is to be signed is signed from here on.
    const isDone = others.then(() => true);
    const sign = async (): Promise<boolean> => {
      for (const turn of signing.splice(0)) turn.resolve();
      return Promise.race([isDone, nextTurn(false)]);
    };
    await until('the others are stored', sign);
    expect(sent.toSorted()).toEqual(alone('PUT', 1, 2));
  });

  it('that are not confirmed are repeated within the budget of retries, as alone', async () => {
    let puts = 0;
    const unavailable = () => {
      puts += 1;
      return UNAVAILABLE;
    };
    const changes: Partial<Datastore> = {
      put: async () => unavailable(),
      batchPut: async (cells) => cells.map(unavailable),
    };
    const { trips } = client(changes, { joinPuts: true, attempts: 1 });
    const [end] = await putMany(trips, 3);
    expect(end).toMatchObject({ ...UNAVAILABLE, reason: expect.stringContaining('group-1') });
    expect(puts).toBe(3);
  });

  it('go alone from then on where the server does not let this caller send many, reads as before', async () => {
    const { trips, sent } = client(storing, { joinPuts: true }, (path) =>
      path === 'batch-put' ? refused(403) : undefined,
    );
    await putMany(trips, 2);
    await putMany(trips, 2);
    expect(sent).toEqual(['POST batch-put', ...alone('PUT', 0, 1, 0, 1)]);
    await getMany(trips, 2);
    expect(sent.at(-1)).toBe('POST batch-read');
  });
});
