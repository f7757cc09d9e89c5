import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../functions/http/answer.ts';
import { onceAnother } from '../../functions/http/once-another.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';
import { TIMED } from '../support/timed.ts';

const trips = referenceStore('trips', 4);
const ask = gateway(fakeDeployment(trips));
const OTHER = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f2';

/** Until then it was looked at in vain. */
const HELD_MS = 200;

function read(path: string, prefer: string, tag?: unknown): Promise<GatewayAnswer> {
  return ask({ method: 'GET', path, headers: { prefer, ...(tag !== undefined && { 'if-none-match': String(tag) }) } });
}

async function timed<Result>(work: Promise<Result>): Promise<readonly [result: Result, milliseconds: number]> {
  const began = performance.now();
  return [await work, performance.now() - began];
}

describe('who waits for another answer', () => {
  it('is not held by a function of which there are few, which others need', TIMED, async () => {
    const first = await read('/v1/trips/triggers', 'wait=0');
    expect(first.status).toBe(200);
    const [answer, took] = await timed(read('/v1/trips/triggers', 'wait=10', first.headers['etag']));
    expect(answer).toMatchObject({ status: 304, text: '' });
    expect(took).toBeLessThan(4000);
    expect(first.headers['cache-control']).toBe('no-store');
  });

  it('is told once the time is over that there is none', TIMED, async () => {
    const first = await read('/v1/trips/shards', 'wait=0');
    expect(first.status).toBe(200);
    const [answer, took] = await timed(read('/v1/trips/shards', 'wait=1', first.headers['etag']));
    expect(answer).toMatchObject({ status: 304, text: '', headers: { etag: first.headers['etag'] } });
    expect(took).toBeGreaterThan(950);
    expect(took).toBeLessThan(3000);
  });

  it('has it as soon as there is one', TIMED, async () => {
    const row_key = randomUUID();
    const path = `/v1/trips/rows/${row_key}`;
    const { headers } = await read(path, 'wait=0');
    const waits = timed(read(path, 'respond-async, wait=10', headers['etag']));
    await sleep(HELD_MS);
    await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: {} });
    const [answer, took] = await waits;
    expect(answer).toMatchObject({ status: 200, json: { cells: [{ column_name: 'BASE' }] } });
    expect(answer.headers['etag']).not.toBe(headers['etag']);
    expect(took).toBeLessThan(3000);
  });

  it('has it soon after a first look that took long, as that of an instance which connects', TIMED, async () => {
    let looks = 0;
    const look = async (): Promise<Answer> => {
      looks += 1;
      if (looks === 2) await sleep(500);
      return { status: 200, body: { is: looks < 3 ? 'as before' : 'another' } };
    };
    const asked = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
      onceAnother({ header: (name) => headers[name] }, look, 15);
    const { headers } = await asked({ prefer: 'wait=0' });
    const [answer, took] = await timed(asked({ prefer: 'wait=15', 'if-none-match': String(headers?.['etag']) }));
    expect(answer.status).toBe(200);
    expect(took).toBeLessThan(4000);
  });

  it('may ask by a body: the logs are read on as they grow', async () => {
    const body = JSON.stringify({
      locations: (await trips.heads()).map(({ shard, ...head }) => ({ shard, after: 'head' in head ? head.head : 0 })),
      limit: 10,
    });
    const log = (headers: Readonly<Record<string, string>>): Promise<GatewayAnswer> =>
      ask({ method: 'POST', path: '/v1/trips/log', body, headers });
    const { headers } = await log({ prefer: 'wait=0' });
    const waits = log({ prefer: 'wait=10', 'if-none-match': String(headers['etag']) });
    await sleep(HELD_MS);
    await trips.put({ row_key: OTHER, column_name: 'BASE', ref_key: 1, body: {} });
    expect((await waits).text).toContain(OTHER);
  });

  it('is not held by an answer that another tag names', TIMED, async () => {
    const [answer, took] = await timed(read('/v1/trips/shards', 'wait=10', '"other"'));
    expect(answer.status).toBe(200);
    expect(took).toBeLessThan(4000);
  });

  it('has what is hidden compared as it is shown', async () => {
    const path = `/v1/trips/cells/${OTHER}/BASE/1`;
    const headers = { prefer: 'wait=0', 'x-schemaless-bodies': 'hidden' };
    const hidden = await ask({ method: 'GET', path, headers });
    const shown = await read(path, 'wait=0');
    expect(hidden.json).toMatchObject({ hidden: true });
    expect(hidden.headers['etag']).not.toBe(shown.headers['etag']);
  });
});

it('no write is done twice for who would wait', TIMED, async () => {
  const path = `/v1/trips/cells/${randomUUID()}/ONCE/1`;
  const headers = { prefer: 'wait=5', 'if-none-match': '*' };
  const [answer, took] = await timed(ask({ method: 'PUT', path, body: '{}', headers }));
  expect(answer).toMatchObject({ status: 201 });
  expect(answer.headers['etag']).toBeUndefined();
  expect(took).toBeLessThan(4000);
});

it('who does not wait is answered as ever', async () => {
  const { headers, status } = await ask({ method: 'GET', path: '/v1/trips/shards', headers: { 'if-none-match': '*' } });
  expect(status).toBe(200);
  expect(headers['etag']).toBeUndefined();
});
