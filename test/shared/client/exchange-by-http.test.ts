import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchangeByHttp, type Exchange, type Outgoing } from '../../../shared/client/exchange.ts';
import { CERTIFICATE, KEY } from '../../support/certificates.ts';
import { listen } from '../../support/listen.ts';
import { PATIENCE_MS, until } from '../../support/until.ts';

const GET: Outgoing = { method: 'GET', target: '/v1/trips/cells/a%20b?read=reader', headers: {}, body: undefined };
const PUT: Outgoing = {
  ...GET,
  method: 'PUT',
  headers: { 'content-type': 'application/json' },
  body: '{"città":"Forlì"}',
};

let server: Server;
let origin: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const connections = new Set<Socket>();

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response)).on('connection', (socket) =>
    connections.add(socket),
  );
  origin = await listen(server);
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  connections.clear();
});

describe('an exchange', () => {
  it('sends the request as it is, and gives the answer whole', async () => {
    const got: unknown[] = [];
    const long = '€'.repeat(300_000);
    answer = async (request, response) => {
      const { method, url, headers } = request;
      got.push(method, url, headers['content-type'], headers['content-length'], await text(request));
      response.writeHead(503, { 'retry-after': '2', 'x-request-id': 'r-1', 'x-json': 'plain' }).end(long);
    };
    expect(await exchangeByHttp(origin, false)(PUT, PATIENCE_MS)).toEqual({
      status: 503,
      bytes: Buffer.from(long),
      contentType: null,
      retryAfter: '2',
      requestId: 'r-1',
      isPlain: true,
    });
    expect(got).toEqual(['PUT', GET.target, 'application/json', String(Buffer.byteLength(PUT.body ?? '')), PUT.body]);
  });

  it('keeps its connections for those that follow', async () => {
    answer = (_request, response) => response.end('{}');
    const exchange = exchangeByHttp(origin, false);
    for (let call = 0; call < 10; call += 1) await exchange(GET, PATIENCE_MS);
    expect(connections.size).toBe(1);
  });

  it('is repeated at once where the server closed the kept connection as the request came', async () => {
    let asked = 0;
    answer = (request, response) => {
      asked += 1;
      if (asked === 2) request.socket.resetAndDestroy();
      else response.end('{}');
    };
    const exchange = exchangeByHttp(origin, false);
    await exchange(GET, PATIENCE_MS);
    expect(await exchange(PUT, PATIENCE_MS)).toMatchObject({ status: 200 });
    expect([asked, connections.size]).toEqual([3, 2]);
  });

  it.each<[string, RegExp, number, (request: IncomingMessage, response: ServerResponse) => void]>([
    [
      'is reset on a new connection',
      /ECONNRESET|socket hang up/,
      PATIENCE_MS,
      (request) => request.socket.resetAndDestroy(),
    ],
    [
      'breaks off in the middle',
      /aborted|ECONNRESET/,
      PATIENCE_MS,
      (_request, response) =>
        response.writeHead(200, { 'content-length': 100 }).write('{"half', () => response.destroy()),
    ],
    ['is not answered in time', /not answered within 50 ms/, 50, () => {}],
    [
      'is answered in part, in time',
      /not answered within 500 ms/,
      500,
      (_request, response) => void response.writeHead(200, { 'content-length': 100 }).write('{"half'),
    ],
  ])('rejects where it %s', async (_case, message, withinMs, broken) => {
    answer = broken;
    await expect(exchangeByHttp(origin, false)(GET, withinMs)).rejects.toThrow(message);
  });

  it('rejects where no server listens', async () => {
    const exchange = exchangeByHttp(origin, false);
    server.close();
    await once(server, 'close');
    await expect(exchange(GET, PATIENCE_MS)).rejects.toThrow(/ECONNREFUSED/);
  });

  it('uses TLS if the origin says so, and only with a server that has a certificate of that name', async () => {
    const trusted = getCACertificates('default');
    const secure = createSecureServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end('{}'));
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    const { port } = secure.address() as AddressInfo;
    const outcomeAt = (host: string): Promise<unknown> =>
      outcomeOf(exchangeByHttp(`https://${host}:${port}`, false), GET);
    expect(await outcomeAt('localhost')).toMatch(/self-signed/);
    setDefaultCACertificates([...trusted, CERTIFICATE]);
    expect(await outcomeAt('localhost')).toBe(200);
    expect(await outcomeAt('127.0.0.1')).toMatch(/127\.0\.0\.1/);
    setDefaultCACertificates(trusted);
    secure.closeAllConnections();
    secure.close();
  });

  it('ends with the signal, many at once, and is not sent after it', async () => {
    let asked = 0;
    answer = () => void (asked += 1);
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const interrupt = new AbortController();
    const send = exchangeByHttp(origin, false);
    const exchange: Exchange = (request, timeoutMs) => send(request, timeoutMs, interrupt.signal);
    const all = Array.from({ length: 40 }, () => outcomeOf(exchange, PUT));
    await until('all are asked', () => asked === 40);
    // Node 20 warns of more than ten.
    expect(getEventListeners(interrupt.signal, 'abort')).toHaveLength(1);
    interrupt.abort(new Error('told to end'));
    expect(new Set(await Promise.all(all))).toEqual(new Set(['told to end']));
    expect(await outcomeOf(exchange, GET)).toBe('told to end');
    expect([asked, warnings]).toEqual([40, []]);
    process.off('warning', warn);
  });
});

async function outcomeOf(exchange: Exchange, request: Outgoing): Promise<unknown> {
  return exchange(request, PATIENCE_MS).then(
    ({ status }) => status,
    (error: unknown) => (error instanceof Error ? error.message : error),
  );
}
