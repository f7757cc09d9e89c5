import { describe, expect, it } from 'vitest';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { endpointsOf } from '../../../shared/client/endpoints.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';

const CELL = { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name: 'BASE', ref_key: 1, body: 1 };
const stored = (): Response => Response.json({ outcome: 'stored', shard: 1, added_id: 7 }, { status: 201 });
const refused = (): Response => {
  throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
};

/** A client of hosts that answer so; `asked` are those that were, in order. */
function opened(
  hosts: Readonly<Record<string, () => Response | Promise<Response>>>,
  options: Partial<ClientOptions> = {},
): { readonly trips: SchemalessClient; readonly asked: string[] } {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { hostname } = new URL(String(input));
    asked.push(hostname);
    const answer = hosts[hostname];
    if (!answer) throw new Error(`no host ${hostname}`);
    const ended = new Promise<never>((_resolve, reject) =>
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
    );
    ended.catch(() => undefined);
    return Promise.race([answer(), ended]);
  };
  const url = Object.keys(hosts).map((host) => `http://${host}`);
  return { trips: schemalessClient({ url, datastore: 'trips', fetch, ...options }), asked };
}

describe('several endpoints', () => {
  it.each([
    ['gives no answer', refused],
    ['is a gateway that reaches no server', () => new Response('<html>', { status: 502 })],
    ['is a gateway that gives up', () => Response.json({ message: 'Endpoint request timed out' }, { status: 504 })],
  ])('are tried in turn where one %s, within one attempt, and that one is not asked again', async (_case, first) => {
    const { trips, asked } = opened({ one: first, two: stored }, { attempts: 1 });
    expect(await trips.put(CELL)).toMatchObject({ outcome: 'stored' });
    await trips.put(CELL);
    expect(asked).toEqual(['one', 'two', 'two']);
  });

  it.each([1, 2, 3])('hold the budget of retries together, also %i of them', async (count) => {
    const hosts = Object.fromEntries(
      Array.from({ length: count }, (_, host) => [`host-${host}`, () => new Response('<html>', { status: 503 })]),
    );
    let tokens = 5;
    const retryBudget = { earn: () => undefined, spend: () => (tokens -= 1) >= 0 };
    const { trips, asked } = opened(hosts, { retryBudget });
    const puts = async (): Promise<void> => {
      for (const end of await Promise.allSettled(Array.from({ length: 20 }, () => trips.put(CELL))))
        expect(end).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    };
    await puts();
    await puts();
    // The first to turn to another endpoint does so without a retry.
    expect(asked.length).toBe(40 + 5 + (count - 1));
  });

  it('take over all requests at once where another one answers', async () => {
    const retryBudget = { earn: () => undefined, spend: () => false };
    const { trips, asked } = opened({ one: refused, two: stored }, { retryBudget });
    const stores = await Promise.all(Array.from({ length: 20 }, () => trips.put(CELL)));
    expect(stores.filter(({ outcome }) => outcome !== 'stored')).toEqual([]);
    expect(asked).toHaveLength(40);
  });

  it('are not where the store itself says that it cannot', async () => {
    const unavailable = (): Response =>
      Response.json({ code: 'unavailable', retry: 'later', detail: 'no node' }, { status: 503 });
    const { trips, asked } = opened({ one: unavailable, two: stored }, { attempts: 1 });
    await expect(trips.getLatest(CELL)).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toEqual(['one']);
  });

  it('that failed are tried again after a while, by one request, and taken back once they answer', () => {
    let now = 0;
    const endpoints = endpointsOf({ url: ['http://one', 'http://two'], datastore: 'trips' }, () => now);
    const order = (): readonly string[] => endpoints.inOrder().map(({ origin }) => origin);
    const [one] = endpoints.inOrder();
    if (one) endpoints.failed(one);
    expect(order()).toEqual(['http://two', 'http://one']);
    now = 10_000;
    expect([order(), order()]).toEqual([
      ['http://one', 'http://two'],
      ['http://two', 'http://one'],
    ]);
    if (one) endpoints.answered(one);
    expect(order()).toEqual(['http://one', 'http://two']);
  });

  it.each([
    ['an environment that lacks it', undefined, 'undefined'],
    ['one without a scheme', '127.0.0.1:4000', '127.0.0.1:4000'],
    ['another protocol', 'ftp://somewhere', 'ftp://somewhere'],
    ['an empty list', [], ''],
  ])('a client is not made with the URL of %s, and says what it was given', (_, url, got) => {
    expect(() => endpointsOf({ url: url as string, datastore: 'trips' })).toThrow(`url: wanted a URL, got ${got}`);
  });
});

describe('a call with a deadline', () => {
  it('goes on until then, past the budget of retries', async () => {
    let [left, asks] = [7, 0];
    // Every other time there is nothing left.
    const retryBudget = { earn: () => undefined, spend: () => (asks += 1) % 2 === 0 };
    const answer = (): Response => ((left -= 1) > 0 ? refused() : stored());
    const { trips, asked } = opened({ one: answer }, { deadlineMs: 60_000, retryBudget });
    expect(await trips.put(CELL)).toMatchObject({ outcome: 'stored' });
    expect(asked).toHaveLength(7);
  });

  it('ends with it, in the middle of an attempt, those that go together too', async () => {
    const { trips } = opened({ one: () => new Promise<Response>(() => undefined) });
    const hasty = trips.with({ deadlineMs: 30 });
    for (const end of await Promise.allSettled([hasty.put(CELL), hasty.getLatest(CELL), hasty.getLatest(CELL)]))
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  });

  it('is not bounded by that of another call', async () => {
    const answer = Promise.withResolvers<Response>();
    const { trips } = opened({ one: () => answer.promise });
    const patient = trips.put(CELL);
    await expect(trips.with({ deadlineMs: 5 }).put(CELL)).rejects.toMatchObject({ code: 'unavailable' });
    answer.resolve(stored());
    expect(await patient).toMatchObject({ outcome: 'stored' });
  });
});

it('a signal of a call ends that call alone, and one of the client all', async () => {
  const silent = { one: () => new Promise<Response>(() => undefined) };
  const [ofClient, ofCall] = [new AbortController(), new AbortController()];
  const { trips } = opened(silent, { signal: ofClient.signal });
  const one = trips.with({ signal: ofCall.signal }).put(CELL);
  const other = trips.with({ signal: new AbortController().signal }).put(CELL);
  ofCall.abort(new Error('enough'));
  await expect(one).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('enough') });
  ofClient.abort(new Error('the end'));
  await expect(other).rejects.toMatchObject({ message: expect.stringContaining('the end') });
});

it('an error has what is wrong with what, and the id of its request', async () => {
  const problem = { code: 'invalid_field', detail: 'limit: no', field: 'limit', wanted: '1 to 1000', got: '0' };
  const { trips } = opened({
    one: () => Response.json(problem, { status: 400, headers: { 'x-request-id': 'request-7' } }),
  });
  await expect(trips.heads()).rejects.toMatchObject({
    code: 'invalid_field',
    field: 'limit',
    wanted: '1 to 1000',
    got: '0',
    requestId: 'request-7',
  });
});
