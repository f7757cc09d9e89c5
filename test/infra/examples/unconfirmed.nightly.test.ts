import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import type { TriggerHandler } from '../../../functions/triggers/trigger-handler.ts';
import { BROUGHT, packed, unpack } from '../package/packed.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { listen } from '../../support/listen.ts';

/** A store that confirms no write, and finds these bodies. */
const BODIES: Readonly<Record<string, unknown>> = {
  ORDER: { buyer_uuid: randomUUID(), total: 10, items: ['book'] },
  STATUS: { state: 'completed' },
  BASE: {
    rider_uuid: randomUUID(),
    driver_uuid: randomUUID(),
    city: 'Lisbon',
    began_at: '2026-07-01T10:00:00Z',
    fare_cents: 5,
  },
};
const server = createServer(({ method, url = '' }, response) => {
  const [, , , kind, row_key, column_name = ''] = url.split('/');
  const [column = ''] = column_name.split('?');
  const body = BODIES[column];
  const [status, answer] =
    method !== 'GET'
      ? [503, { code: 'unavailable', retry: 'later', outcome: 'unavailable', shard: 0, detail: 'Not confirmed' }]
      : kind === 'rows'
        ? [200, { cells: [], next: null, served_by: 'writer', stale: false }]
        : body === undefined
          ? [404, { code: 'cell_not_found', stale: false, served_by: 'writer' }]
          : [
              200,
              {
                row_key,
                column_name: column,
                ref_key: 1,
                added_id: 1,
                shard: 0,
                body,
                served_by: 'writer',
                stale: false,
              },
            ];
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
  response.end(JSON.stringify(answer));
});
const url = await listen(server);
afterAll(() => server.close());

const project = join(folderOfTests().path, 'project');
beforeAll(async () => {
  unpack(await packed(), project, [...BROUGHT, 'zod']);
  cpSync(join(PROJECT_ROOT, 'infra/examples'), join(project, 'infra/examples'), { recursive: true });
}, 240_000);

const handlers: TriggerHandler[] = [];
vi.mock('@schemaless-store/schemaless/triggers', async (original) => ({
  ...(await original<object>()),
  consume: (handler: TriggerHandler) => handlers.push(handler),
}));
vi.mock('../../../infra/examples/trips-and-billing/cards.ts', () => ({
  charge: async () => ({ receipt: 'r', cents: 5 }),
}));

it('the function of no example is done with a cell whose write was not confirmed', async () => {
  await import('../../../infra/examples/web-shop/confirm-orders.ts');
  handlers.push((await import('../../../infra/examples/trips-and-billing/bill-rider.ts')).handler);
  expect(handlers.map(({ trigger }) => trigger)).toEqual(['confirm_order', 'bill_rider']);
  for (const { fn } of handlers) {
    const row_key = randomUUID();
    const client = schemalessClient({ url, datastore: 'any', attempts: 2 });
    const call = async () =>
      fn(row_key, { row_key, ref_key: 1 } as never, client, { signal: new AbortController().signal, attempt: 1 });
    await expect(call()).rejects.toMatchObject({ code: 'unavailable', details: { address: { row_key } } });
  }
});

it.each([
  'web-shop/place-orders.ts',
  'trips-and-billing/drive.ts',
  'hotel-rates/sell-rooms.ts',
  'first-program/program.ts',
])('the program %s fails if its writes are not confirmed', async (program) => {
  const path = join(import.meta.dirname, '../../../infra/examples', program);
  const run = promisify(execFile)(process.execPath, [path, url], { env: { ...process.env, SCHEMALESS_API_URL: url } });
  await expect(run).rejects.toMatchObject({ stderr: expect.stringContaining('unavailable') });
});
