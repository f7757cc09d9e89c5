import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../shared/contract/move-operations.ts';
import { MOVE } from '../../functions/support/fake-moves.ts';
import { listen } from '../../support/listen.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, startCommand, type Ran } from './run-command.ts';

const folder = folderOfTests();
let server: Server;
let url: string;
/** What came: method, path, body. */
let requests: unknown[][] = [];
/** What a move is seen to be, one look after the other, the last one again and again. */
let seen: readonly Partial<MoveStatus>[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push([request.method, request.url, body === '' ? undefined : JSON.parse(body)]);
    const status = { ...MOVE, ...(seen.length > 1 ? seen[0] : seen.at(-1)) };
    seen = seen.length > 1 ? seen.slice(1) : seen;
    const isList = request.method === 'GET' && request.url === '/v1/trips/moves';
    response.writeHead(request.method === 'GET' ? 200 : 202, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { moves: [status] } : status));
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

const here = { folder: folder.path };
const parametersOf = (parameters: readonly string[]): string[] => ['move', ...parameters, '-d', 'trips', '--url', url];
const run = (...parameters: string[]): Promise<Ran> => runCommand(parametersOf(parameters), here);

describe('moves', () => {
  it('are begun with what is wished of them', async () => {
    const plain = await run('create', '2', '--to', 'group-2');
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(plain)).toEqual([{ ...MOVE, percent: 25 }]);
    await run('create', '2', '--to', 'group-2', '--switch', '--complete-after', '86400');
    expect(requests).toEqual([
      ['POST', '/v1/trips/moves', { shard: 2, to: 'group-2' }],
      ['POST', '/v1/trips/moves', { shard: 2, to: 'group-2', switch: true, complete_after_seconds: 86_400 }],
    ]);
  });

  it('are listed, with how far they are, how fast, and how long that takes', async () => {
    expect(linesOf(await run('list'))).toEqual([{ ...MOVE, percent: 25 }]);
    const table = await run('list', '--format', 'table');
    expect(table.stdout).toMatch(/^SHARD +FROM +TO +STEP +WANTED +COPIED +BEHIND +RATE +LEFT +LAST ERROR\n/u);
    expect(table.stdout).toMatch(/^2 +group-1 +group-2 +copying +- +25 % +750 cells +0\.1 MB\/s +9 s +-$/mu);
  });

  it('are shown: all of an empty shard is there, and all but a little of another is not all', async () => {
    seen = [{ head: 0, copied: 0, eta_seconds: null }];
    expect(linesOf(await run('status', '2'))).toMatchObject([{ percent: 100 }]);
    seen = [{ head: 1_000_000, copied: 999_999 }];
    expect(linesOf(await run('status', '2'))).toMatchObject([{ percent: 99.9 }]);
    expect(requests).toEqual([
      ['GET', '/v1/trips/moves/2', undefined],
      ['GET', '/v1/trips/moves/2', undefined],
    ]);
  });

  it.each(['switch', 'reverse', 'complete', 'cancel', 'verify'])('are taken on: %s', async (name) => {
    expect(await run(name, '2')).toMatchObject({ code: 0, stderr: '' });
    expect(requests).toEqual([['POST', `/v1/trips/moves/2/${name}`, undefined]]);
  });
});

describe('a move that is watched', () => {
  const following = { step: 'following', copied: 1000, compared: 900 } as const;

  it('shows what changes, until all is compared and nothing is wanted any more', async () => {
    const stumbling = { ...following, last_error: 'group-2 does not answer' };
    seen = [
      {},
      {},
      stumbling,
      { ...following, compared: 1000, wanted: 'switch' },
      { ...following, compared: 1000, wanted: null, switches: 1 },
    ];
    const ran = await run('status', '2', '--watch');
    expect(ran).toMatchObject({ code: 0, stderr: 'it stumbles: group-2 does not answer\n' });
    expect(linesOf(ran).map(({ step, compared, switches }) => [step, compared, switches])).toEqual([
      ['copying', 200, 0],
      ['following', 900, 0],
      ['following', 1000, 0],
      ['following', 1000, 1],
    ]);
    expect(requests).toHaveLength(5);
  });

  it.each(['completed', 'cancelled'] as const)('is over at once where it is %s', async (step) => {
    seen = [{ step }];
    expect(linesOf(await run('status', '2', '--watch'))).toMatchObject([{ step }]);
  });

  it('ends with Ctrl-C, so that what stands behind it is not done', async () => {
    const watching = startCommand(parametersOf(['status', '2', '--watch']), here);
    await once(watching.stdout ?? process.stdin, 'data');
    watching.kill('SIGINT');
    expect(await once(watching, 'exit')).toEqual([130, null]);
  });
});
