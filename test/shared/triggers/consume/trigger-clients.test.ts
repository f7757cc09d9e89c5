import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callFunction } from '../../../../shared/triggers/consume/call-function.ts';
import { triggerClients } from '../../../../shared/triggers/consume/trigger-clients.ts';
import { fakeDeployment } from '../../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../../functions/support/gateway.ts';
import { listen } from '../../../support/listen.ts';
import { until } from '../../../support/until.ts';
import { messageOf } from './support/stage.ts';

const { row_key } = messageOf(17, 1);
const BASE = { row_key, column_name: 'BASE', ref_key: 1, body: { fare: 12 } };
const options = () => ({
  url: 'http://api',
  datastore: 'trips',
  attempts: 1,
  fetch: gatewayFetch(gateway(fakeDeployment())),
});

describe("the client of a trigger's function", () => {
  it('gets, finds the latest, puts and puts next', async () => {
    const client = triggerClients(options())(new AbortController().signal);
    expect(await client.put(BASE)).toMatchObject({ outcome: 'stored', added_id: 1 });
    expect(await client.putNext({ row_key, column_name: 'STATUS', body: { is_completed: true } })).toMatchObject({
      outcome: 'stored',
      ref_key: 0,
    });
    expect((await client.get(BASE)).cell).toMatchObject(BASE);
    expect((await client.getLatest({ row_key, column_name: 'STATUS' })).cell).toMatchObject({
      ref_key: 0,
      body: { is_completed: true },
    });
    expect((await client.getLatest({ row_key, column_name: 'NOTES' })).cell).toBeNull();
  });
});

describe('the clients of many calls', () => {
  it('send what is asked for at the same time in one request, and none of what a call asks for whose time is up', async () => {
    const sent: string[] = [];
    const toGateway = options().fetch;
    const fetch: typeof globalThis.fetch = (input, init) => {
      sent.push(`${init?.method} ${new URL(String(input)).pathname.replace('/v1/trips/', '')}`);
      return toGateway(input, init);
    };
    const clients = triggerClients({ ...options(), fetch, joinPuts: true });
    const over = AbortSignal.abort(new Error('it did not answer within 0.2 s'));
    const ends = await Promise.allSettled([
      clients(new AbortController().signal).put(BASE),
      clients(new AbortController().signal).put({ ...BASE, ref_key: 2 }),
      clients(over).put({ ...BASE, ref_key: 3 }),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const reads = await Promise.all(
      [1, 2, 3].map((ref_key) => clients(new AbortController().signal).get({ ...BASE, ref_key })),
    );
    expect(reads.map(({ cell }) => cell?.ref_key)).toEqual([1, 2, undefined]);
    expect(sent).toEqual(['POST batch-put', 'POST batch-read']);
  });

  it('share one budget, to repeat a tenth of all requests, when the API refuses all', async () => {
    let asked = 0;
    const refuse = async (): Promise<Response> => {
      asked += 1;
      return Response.json(
        { code: 'overloaded', detail: 'too much' },
        { status: 503, headers: { 'retry-after': '0' } },
      );
    };
    const clients = triggerClients({ url: 'http://api', datastore: 'trips', fetch: refuse });
    const calls = 600;
    for (let begun = 0; begun < calls; begun += 100)
      await Promise.all(
        Array.from({ length: 100 }, () =>
          clients(new AbortController().signal)
            .get(BASE)
            .catch(() => undefined),
        ),
      );
    // The client's retry budget is a tenth, a reserve of 20, and 2 a second. A budget for each would allow thousands.
    expect(asked - calls).toBeLessThan(calls);
  });
});

it('a call whose time is up sends nothing any more, also what is under way, whatever the function goes on to do', async () => {
  const requests: string[] = [];
  let cutOff = 0;
  const server = createServer(({ method, url }, response) => {
    requests.push(`${method} ${url}`);
    response.on('close', () => (cutOff += response.writableEnded ? 0 : 1));
    if (url === '/') response.end();
  });
  onTestFinished(() => void server.close());
  const url = await listen(server);
  const after: unknown[] = [];
  // The time of the call is up once its request has come, and not before.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const call = callFunction({
    async fn(_rowKey, _message, schemaless) {
      await schemaless.get(BASE).catch((error: unknown) => after.push(error));
      await schemaless.put(BASE).catch((error: unknown) => after.push(error));
    },
    client: triggerClients({ url, datastore: 'trips', attempts: 2 }),
    message: messageOf(17, 1),
    attempt: 1,
    timeoutMs: 200,
  });
  const ended = call.catch((error: unknown) => error);
  await until('it is asked', () => requests.length === 1);
  vi.advanceTimersByTime(200);
  vi.useRealTimers();
  expect(await ended).toEqual(new Error('it did not answer within 0.2 s'));
  await until('the function is over', () => after.length === 2);
  await fetch(`${url}/`);
  expect(requests).toEqual([`GET /v1/trips/cells/${row_key}/BASE/1`, 'GET /']);
  expect(cutOff).toBe(1);
});
