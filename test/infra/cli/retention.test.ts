import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Purge } from '../../../shared/contract/retention-operations.ts';
import { HOLD, KEPT, PURGE } from '../../functions/support/fake-retention.ts';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, type Ran } from './run-command.ts';

const folder = folderOfTests();
const ROW = HOLD.row_key ?? '';
const PURGED: Purge = { ...PURGE, state: 'purged', purged_at: '2026-01-31T08:03:00.000Z', waits_for: null };
let server: Server;
let url: string;
/** What came: method, path, body. */
let requests: unknown[][] = [];
/** What a purge is seen to be, one look after the other, the last one again and again. */
let seen: readonly Purge[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url: path = '' } = request;
    const sent = await text(request);
    requests.push([method, path, sent === '' ? undefined : JSON.parse(sent)]);
    const purge = seen[0] ?? PURGED;
    if (path.endsWith('/purge') || path.endsWith('/retention')) seen = seen.slice(1);
    const answers: Readonly<Record<string, object>> = {
      purge,
      retention: { ...KEPT, purge },
      holds: method === 'GET' ? { holds: [HOLD], next: null } : HOLD,
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[/\/trips\/(\w+)/u.exec(path)?.[1] ?? ''] ?? {}));
  });
  url = await listen(server);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  seen = [];
});

const run = (...parameters: string[]): Promise<Ran> =>
  runCommand([...parameters, '-d', 'trips', '--url', url], { folder: folder.path });

it('retention shows the rules and what was erased by them', async () => {
  const ran = await run('retention');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([{ ...KEPT, purge: PURGED }]);
});

it('holds are put, listed and released', async () => {
  expect(linesOf(await run('holds', 'put', 'case-17', ROW, '--reason', 'evidence'))).toEqual([HOLD]);
  expect(linesOf(await run('holds'))).toEqual([HOLD]);
  expect(linesOf(await run('holds', 'release', 'case-17', '--subject', 'rider#1'))).toEqual([HOLD]);
  expect(requests).toEqual([
    ['PUT', '/v1/trips/holds', { hold: 'case-17', row_key: ROW, reason: 'evidence' }],
    ['GET', '/v1/trips/holds?limit=1000', undefined],
    ['DELETE', '/v1/trips/holds?hold=case-17&subject=rider%231', undefined],
  ]);
});

it.each([
  ['neither row nor subject', ['case-17']],
  ['both', ['case-17', ROW, '--subject', 'rider']],
])('a hold of %s is refused', async (_what, parameters) => {
  const ran = await run('holds', 'put', ...parameters, '--reason', 'evidence');
  expect(ran.code).toBe(2);
  expect(requests).toEqual([]);
});

it('purge waits until it is done, and says what the tables took', async () => {
  seen = [PURGE, PURGE, PURGED];
  const ran = await run('purge');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([PURGED]);
});

it('purge ends with 5 where it goes on', async () => {
  seen = [PURGE, PURGE];
  const ran = await run('purge', '--wait', '0');
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain(PURGE.waits_for ?? '');
});
