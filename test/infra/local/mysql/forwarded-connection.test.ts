import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { ForwardedConnection } from '../../../../infra/local/mysql/forwarded-connection.ts';

const PIECES = 1000;

afterEach(() => vi.restoreAllMocks());

it('an answer that comes in pieces keeps their order, whatever the time', async () => {
  // When milliseconds come to another power of two, what is added to a time and taken off again is not quite the same.
  // Clock: time passes as ever, from another start; nothing is judged by it.
  const [now, began] = [performance.now.bind(performance), performance.now()];
  vi.spyOn(performance, 'now').mockImplementation(() => 2 ** 16 - 55 + now() - began);
  await using database = await listen(async (socket) => {
    socket.setNoDelay(true);
    for (let piece = 0; piece < PIECES; piece += 1) {
      socket.write(`${piece} `);
      await turn();
    }
    socket.end();
  });
  await using forwarder = await listen((socket) => {
    const forwarded = new ForwardedConnection(socket, addressOf(database.server), () => undefined);
    forwarded.setFault({ kind: 'delay', milliseconds: 60 });
  });
  const client = connect(addressOf(forwarder.server));
  let heard = '';
  client.on('data', (chunk) => (heard += chunk.toString()));
  await once(client, 'close');
  expect(heard.trim().split(' ').map(Number)).toEqual(Array.from({ length: PIECES }, (_, piece) => piece));
});

async function listen(serve: (socket: Socket) => unknown): Promise<AsyncDisposable & { readonly server: Server }> {
  const server = createServer({ pauseOnConnect: true }, (socket) => void serve(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, [Symbol.asyncDispose]: async () => void server.close() };
}

function addressOf(server: Server): { readonly host: string; readonly port: number } {
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}
