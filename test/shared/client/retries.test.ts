import { describe, expect, it } from 'vitest';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions, UnsignedRequest } from '../../../shared/client/options.ts';
import { pauseMs } from '../../../shared/client/pause.ts';
import { retryBudget } from '../../../shared/client/retry-budget.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const CELL = { row_key: ROW, column_name: 'BASE', ref_key: 1, body: { city: 'Lisbon' } };
const STORED = { status: 201, body: JSON.stringify({ outcome: 'stored', ...CELL, shard: 1, added_id: 7 }) };
const UNAVAILABLE = {
  status: 503,
  body: JSON.stringify({ code: 'unavailable', retry: 'later', detail: 'no node', outcome: 'unavailable', shard: 1 }),
};

type Scripted = { readonly status: number; readonly body: string; readonly headers?: Record<string, string> } | Error;

const refusal = (status: number, code: string) => ({
  status,
  body: JSON.stringify({ code, retry: 'never', detail: 'no' }),
});

/** A client of a server that answers as the script says, the last line again and again. */
function scripted(
  script: readonly Scripted[],
  options: Partial<ClientOptions> = {},
): { trips: SchemalessClient; sent: { url: string; init: RequestInit }[] } {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const next = script[Math.min(sent.length, script.length - 1)];
    sent.push({ url: String(url), init });
    if (next === undefined || next instanceof Error) throw next;
    return new Response(next.body, next);
  };
  return { trips: schemalessClient({ url: 'http://store.test', datastore: 'trips', fetch, ...options }), sent };
}

describe('a client whose request fails', () => {
  it.each<[string, Scripted]>([
    ['the connection is lost', new TypeError('fetch failed', { cause: new Error('ECONNRESET') })],
    ['the store is unavailable', UNAVAILABLE],
    ['the gateway is busy', { status: 429, body: '{"message":"Too Many Requests"}' }],
    ['the gateway gives up', { status: 504, body: '{"message":"Endpoint request timed out"}' }],
    ['the gateway answers no JSON', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['what was answered is no answer of the store', { status: 200, body: '<html>Welcome</html>' }],
    ['a newer server says that it may help', { status: 409, body: '{"code":"too_new","retry":"later"}' }],
    ['the function died', { status: 500, body: '{"message":"Internal Server Error"}' }],
  ])('sends it again when %s', async (_case, failure) => {
    const { trips, sent } = scripted([failure, failure, STORED]);
    expect(await trips.put(CELL)).toEqual({ outcome: 'stored', shard: 1, added_id: 7, ref_key: 1 });
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ url, init }) => `${init.method} ${url} ${String(init.body)}`))).toEqual(
      new Set([`PUT http://store.test/v1/trips/cells/${ROW}/BASE/1 {"city":"Lisbon"}`]),
    );
  });

  it.each([
    ['a refused field', refusal(400, 'invalid_field'), 'invalid_field'],
    ['a damaged cell', refusal(500, 'undecodable_body'), 'undecodable_body'],
    ['a missing permission', { status: 403, body: '{"message":"Forbidden"}' }, 'denied'],
    ['credentials that have expired', { status: 401, body: '' }, 'denied'],
    ['a method that something in between refuses', { status: 405, body: '<html>' }, 'internal'],
    ['a path of nothing', { status: 404, body: '{"message":"Not Found"}' }, 'unknown_route'],
    ['an address that is too long for the gateway', { status: 431, body: '' }, 'request_too_large'],
    ['a code that it does not know', refusal(422, 'too_new'), 'internal'],
  ])('does not for %s', async (_case, failure, code) => {
    const { trips, sent } = scripted([failure]);
    await expect(trips.put(CELL)).rejects.toMatchObject({ name: 'SchemalessError', code, retry: 'never' });
    expect(sent).toHaveLength(1);
  });

  it('gives up after as many attempts as it was told', async () => {
    const { trips, sent } = scripted([new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })], {
      attempts: 3,
    });
    await expect(trips.getLatest(CELL)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['longer than the call may take', { 'retry-after': '20' }, 1],
    ['no time', {}, 2],
  ])('waits for as long as the server asks: %s', async (_what, headers, attempts) => {
    const { trips, sent } = scripted([{ ...UNAVAILABLE, headers }, STORED], { deadlineMs: 10_000 });
    await trips.put(CELL).catch(() => undefined);
    expect(sent).toHaveLength(attempts);
  });

  it('gives up an attempt that is not answered in time', async () => {
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
      );
    const trips = schemalessClient({ url: 'http://store.test', datastore: 'trips', fetch, attempts: 1, timeoutMs: 10 });
    await expect(trips.getLatest(CELL)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('signs every attempt with a new signature', async () => {
    const signed: UnsignedRequest[] = [];
    const sign: NonNullable<ClientOptions['sign']> = async (request) => {
      signed.push(request);
      return { ...request.headers, authorization: `signature ${signed.length}` };
    };
    const { trips, sent } = scripted([UNAVAILABLE, STORED], { sign });
    await trips.put(CELL);
    expect(signed[0]).toMatchObject({
      method: 'PUT',
      body: '{"city":"Lisbon"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(sent.map(({ init }) => new Headers(init.headers).get('authorization'))).toEqual([
      'signature 1',
      'signature 2',
    ]);
  });
});

describe('a signer', () => {
  it('that fails is outlasted, and told with its cause', async () => {
    const cause = new Error('the credentials are away');
    let signed = 0;
    const sign: NonNullable<ClientOptions['sign']> = async ({ headers }) => {
      signed += 1;
      if (signed % 3 !== 0) throw cause;
      return headers;
    };
    const { trips } = scripted([STORED], { sign });
    expect(await trips.put(CELL)).toMatchObject({ outcome: 'stored' });
    const { trips: once } = scripted([STORED], { sign, attempts: 1 });
    await expect(once.put(CELL)).rejects.toMatchObject({
      name: 'SchemalessError',
      code: 'unavailable',
      message: 'No signature for http://store.test: the credentials are away',
      cause,
    });
  });

  it('that hangs ends with its call', async () => {
    const sign = (): Promise<never> => new Promise(() => undefined);
    const { trips, sent } = scripted([STORED], { sign });
    for (const limits of [{ deadlineMs: 20 }, { signal: AbortSignal.timeout(20) }])
      await expect(trips.with(limits).put(CELL)).rejects.toMatchObject({ code: 'unavailable' });
    const { trips: bounded } = scripted([STORED], { sign, attempts: 1, timeoutMs: 20 });
    await expect(bounded.put(CELL)).rejects.toMatchObject({ code: 'unavailable' });
    expect(sent).toEqual([]);
  });
});

describe('the pause before the next attempt', () => {
  it('grows up to 2 s, and is spread at random', () => {
    expect([1, 2, 3, 9].map((attempt) => pauseMs(attempt, null, () => 1))).toEqual([50, 100, 200, 2000]);
    expect(pauseMs(3, null, () => 0.25)).toBe(50);
  });

  it('comes after Retry-After, within reason', () => {
    expect(pauseMs(1, '3', () => 0)).toBe(3000);
    expect(pauseMs(1, '86400', () => 0)).toBe(30_000);
    expect(pauseMs(1, 'Wed, 21 Oct 2026 07:28:00 GMT', () => 0)).toBe(0);
  });
});

describe('the retry budget', () => {
  it('lets a caller who asks rarely repeat, and one who asks much no more than his share', () => {
    const budget = retryBudget(0.1, () => 0);
    const spent = (tries: number): number => Array.from({ length: tries }, () => budget.spend()).filter(Boolean).length;
    expect(spent(5)).toBe(5);
    expect(spent(100)).toBe(15);
    for (let request = 0; request < 1000; request += 1) {
      budget.earn();
      if (request % 100 === 99) expect(Math.round(spent(100) / 2)).toBe(5);
    }
  });

  it('comes back with time', () => {
    let time = 0;
    const budget = retryBudget(0, () => time);
    while (budget.spend());
    expect(budget.spend()).toBe(false);
    time = 1000;
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false]);
  });

  it('is no bound where it is switched off', () => {
    const budget = retryBudget(false);
    expect(Array.from({ length: 1000 }, () => budget.spend()).every(Boolean)).toBe(true);
  });
});
