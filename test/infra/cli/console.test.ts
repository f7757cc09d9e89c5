import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openBrowser } from '../../../infra/cli/commands/console.ts';
import {
  passingOf,
  serveConsole,
  type ConsoleProps,
  type ServedConsole,
} from '../../../infra/cli/console/serve-console.ts';
import { operationsFor, ROUTES } from '../../../shared/api/operations.ts';
import { requestSigner } from '../../../shared/client/sign-request.ts';
import { until } from '../../support/until.ts';
import { words } from '../../support/words.ts';
import { fakeApi, type Asked } from './fake-api.ts';
import { runCommand, startCommand } from './run-command.ts';

let status: number;
const came: Asked[] = [];
const api = fakeApi((asked) => {
  came.push(asked);
  const body = asked.path.endsWith('session.json') ? { version: '1', datastores: ['trips'], actions: false } : {};
  return [status, body, { 'content-security-policy': "default-src 'none'", 'set-cookie': 'a=b' }];
});
beforeEach(() => {
  status = 200;
  came.length = 0;
});

const SIGN = requestSigner('eu-west-1', { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });

async function served(props: Partial<ConsoleProps> = {}): Promise<ServedConsole & AsyncDisposable> {
  const one = await serveConsole({
    url: api.url(),
    sign: SIGN,
    actions: false,
    profile: 'prod',
    datastore: undefined,
    port: 0,
    ...props,
  });
  return { ...one, [Symbol.asyncDispose]: async () => one.close() };
}

async function opened({
  origin,
  address,
}: ServedConsole): Promise<(path: string, options?: RequestInit) => Promise<Response>> {
  const word = /#token=(?<word>.+)$/u.exec(address)?.groups?.['word'];
  const answer = await fetch(`${origin}/console/redeem`, { method: 'POST', body: JSON.stringify({ word }) });
  const { token } = (await answer.json()) as { readonly token: string };
  return (path, options) =>
    fetch(`${origin}${path}`, { ...options, headers: { 'x-console-token': token, ...options?.headers } });
}

const pathOf = ({ path }: (typeof ROUTES)[number]): string =>
  path.replaceAll(/\{(?<name>\w+)\}/gu, (_all, name: string) => (name === 'datastore' ? 'trips' : 'x'));

describe('what passes', () => {
  const reads = (['readers', 'movers', 'erasers'] as const)
    .flatMap((caller) => operationsFor(caller))
    .filter((operation) => /^(?:get|list|read|query|count|batch|digest)/u.test(operation));

  /** All that the console has buttons for. */
  const actions = words(`
    pauseTrigger resumeTrigger rewindTrigger retryParkedCells discardParkedCells replayDeadMessages
    discardDeadMessages discardBufferConflicts keepWritesInDoubt createMove switchMove reverseMove completeMove
    cancelMove verifyMove eraseCells`);

  it.each(ROUTES)('$operation: as what it does', (route) => {
    const isAction = actions.includes(route.operation);
    const wanted = reads.includes(route.operation) ? 'reads' : isAction ? 'changes' : 'unknown';
    expect(passingOf(route.method, pathOf(route))).toBe(wanted);
  });

  it.each([
    '/v1/trips/../x',
    '/v1/trips/cells/%2e%2e/x/1',
    '/v1//cells/x/y/1',
    '/console/../v1/health',
    '/other',
    '/v1/trips/triggers/a/pause/',
  ])('nothing of %s', (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) expect(passingOf(method, path)).toBe('unknown');
  });
});

describe('the proxy', () => {
  it('signs what the page asks, and hands back what a page may know', async () => {
    await using one = await served();
    const ask = await opened(one);
    const answer = await ask('/v1/trips/shards?read=reader', {
      headers: { 'x-schemaless-bodies': 'hidden', cookie: 'c=d' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(answer.headers.get('set-cookie')).toBeNull();
    const [request] = came;
    expect(request?.path).toBe('/v1/trips/shards?read=reader');
    expect(request?.headers).toMatchObject({
      'x-schemaless-bodies': 'hidden',
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/.*\/eu-west-1\/execute-api\//u),
    });
    expect(request?.headers).not.toHaveProperty('x-console-token');
    expect(request?.headers).not.toHaveProperty('cookie');
  });

  it('passes the tag that the page knows, and 304', async () => {
    await using one = await served();
    const ask = await opened(one);
    status = 304;
    const answer = await ask('/v1/trips/shards', { headers: { 'if-none-match': '"a"' } });
    expect([answer.status, await answer.text()]).toEqual([304, '']);
    expect(came[0]?.headers).toMatchObject({ 'if-none-match': '"a"' });
  });

  it('is opened by its address once, and by nothing else', async () => {
    await using one = await served();
    for (const body of ['{}', '', '{"word":"wrong"}'])
      expect((await fetch(`${one.origin}/console/redeem`, { method: 'POST', body })).status).toBe(401);
    expect((await fetch(`${one.origin}/v1/health`)).status).toBe(401);
    expect((await fetch(`${one.origin}/console/session.json`)).status).toBe(401);
    await opened(one);
    const word = one.address.split('=').at(-1);
    const again = await fetch(`${one.origin}/console/redeem`, { method: 'POST', body: JSON.stringify({ word }) });
    expect(again.status).toBe(401);
    expect(came).toEqual([]);
  });

  it('lets neither of two into the API any more that opened its address, as one of them is not the owner', async () => {
    await using one = await served({ actions: true });
    const ask = await opened(one);
    const word = one.address.split('=').at(-1);
    await fetch(`${one.origin}/console/redeem`, { method: 'POST', body: JSON.stringify({ word }) });
    expect((await ask('/v1/trips/triggers/a/pause', { method: 'POST', body: '{}' })).status).toBe(401);
    expect(came).toEqual([]);
    await one.openedTwice;
  });

  it.each(['session.json', '%73ession.json', 'session%2Ejson', '%2573ession.json', '/session.json'])(
    'keeps what the API says of the session from pages without a token: /console/%s',
    async (file) => {
      await using one = await served();
      expect((await fetch(`${one.origin}/console/${file}`)).status).toBe(401);
      expect(came).toEqual([]);
    },
  );

  it.each(['/console', '/console/main.js', '/console/console.css'])('gives any page the file %s', async (path) => {
    await using one = await served();
    expect((await fetch(`${one.origin}${path}`)).status).toBe(200);
  });

  it('refuses other pages, by their names', async () => {
    await using one = await served();
    const ask = await opened(one);
    expect((await ask('/v1/health', { headers: { origin: 'https://example.com' } })).status).toBe(403);
    const { port } = new URL(one.origin);
    const rebound = request({
      port,
      host: '127.0.0.1',
      path: '/console',
      headers: { host: `example.com:${port}` },
    }).end();
    const [answer] = (await once(rebound, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(421);
    expect(came).toEqual([]);
  });

  it('keeps what changes something from the API where it only reads', async () => {
    await using one = await served();
    const ask = await opened(one);
    for (const route of ROUTES.filter(({ method, path }) => passingOf(method, path) !== 'reads'))
      expect((await ask(pathOf(route), { method: route.method, body: '{}' })).status).toBe(403);
    expect(came).toEqual([]);
  });

  it('passes actions where they are allowed, and nothing that has no button', async () => {
    await using one = await served({ actions: true });
    const ask = await opened(one);
    expect((await ask('/v1/trips/triggers/a/pause', { method: 'POST', body: '{}' })).status).toBe(200);
    expect((await ask('/v1/trips', { method: 'DELETE' })).status).toBe(403);
    expect((await ask('/v1/trips/cells/x/BASE/1', { method: 'PUT', body: '{}' })).status).toBe(403);
    expect(came).toHaveLength(1);
  });

  it('tells the page what it may do, and through whom', async () => {
    await using one = await served({ actions: true });
    const session = await (await (await opened(one))('/console/session.json')).json();
    expect(session).toEqual({
      version: '1',
      datastores: ['trips'],
      actions: true,
      through: { url: api.url(), profile: 'prod', datastore: null },
    });
  });

  it('says that the API does not answer', async () => {
    await using one = await served({ url: 'http://127.0.0.1:1' });
    const answer = await (await opened(one))('/v1/health');
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'no_answer' });
  });
});

describe('the browser', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('is opened without the word in the arguments of a process, which all users of the machine can read', async () => {
    const told = join(api.folder, 'told');
    for (const opener of ['xdg-open', 'open'])
      writeFileSync(join(api.folder, opener), `#!/bin/sh\nprintf %s "$*" >${told}.now && mv ${told}.now ${told}\n`, {
        mode: 0o700,
      });
    vi.stubEnv('PATH', `${api.folder}:${process.env['PATH'] ?? ''}`);
    let file: string;
    {
      using _opened = openBrowser('http://127.0.0.1:1/console#token=sEcReT');
      await until('the browser is opened', async () => existsSync(told));
      file = readFileSync(told, 'utf8');
      expect(file).not.toContain('sEcReT');
      expect(readFileSync(file, 'utf8')).toContain('url=http://127.0.0.1:1/console#token=sEcReT');
      expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    }
    expect(existsSync(dirname(file))).toBe(false);
  });
});

describe('schemaless console', () => {
  const HERE = { folder: api.folder };

  it('ends, and says why, once its address is opened a second time', async () => {
    const child = startCommand(['console', '--url', api.url(), '--no-open'], HERE);
    if (!child.stdout || !child.stderr) throw new Error('no pipes');
    onTestFinished(() => void child.kill());
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { address } = JSON.parse(line) as { readonly address: string };
    expect(new URL(address).port).not.toBe('4040');
    const [ended, told] = [once(child, 'exit'), text(child.stderr)];
    const body = JSON.stringify({ word: address.split('=').at(-1) });
    for (let opening = 1; opening <= 2; opening += 1)
      await fetch(new URL('/console/redeem', address), { method: 'POST', body });
    expect([await ended, await told]).toEqual([[6, null], expect.stringContaining('opened a second time')]);
  });

  it('prints the address, serves it, and ends by Ctrl-C', async () => {
    const child = startCommand(['console', '--url', api.url(), '--port', '0', '--no-open'], HERE);
    if (!child.stdout) throw new Error('no pipes');
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { address } = JSON.parse(line) as { readonly address: string };
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console#token=[\w-]{32}$/u);
    expect((await fetch(address)).status).toBe(200);
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    [404, 3, 'has no console'],
    [403, 6, 'refused the signature'],
    [500, 5, 'answered 500'],
  ])('ends at once where the API answers %i', async (answered, code, says) => {
    status = answered;
    const ran = await runCommand(['console', '--url', api.url(), '--port', '0', '--no-open'], HERE);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) });
  });
});
