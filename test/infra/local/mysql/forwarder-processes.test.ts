import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openForwarder, type Forwarder, type Target } from '../../../../infra/local/mysql/forwarder.ts';
import { openForwarderProcess, openOnOnePort } from '../../../../infra/local/mysql/forwarder-processes.ts';

const HOST = '127.0.0.1';
let servers: readonly Server[] = [];
let targets: readonly Target[] = [];

beforeAll(async () => {
  servers = ['one', 'two'].map((name) =>
    createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', () => socket.write(name));
    }).listen(0, HOST),
  );
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
  targets = servers.map((server) => ({ host: HOST, port: (server.address() as { port: number }).port }));
});

afterAll(() => servers.forEach((server) => server.close()));

async function opened({ host, port }: Target): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  socket.write('?');
  const closed = once(socket, 'close').then(() => 'closed');
  return Promise.race([once(socket, 'data').then(String), closed]).catch(() => 'closed');
}

const asked = (forwarder: Forwarder): Promise<string> => opened(forwarder).then(answer, () => 'closed');

/** A thread with a server, and a client that asks it again and again through the forwarder. */
const ASKING = `
  const { parentPort } = require('node:worker_threads');
  const { connect, createServer } = require('node:net');
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const server = createServer((socket) => socket.on('data', () => socket.write('!')));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port, answers }));
  parentPort.once('message', (port) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', () => {
      if (Atomics.add(answers, 0, 1) === 5) parentPort.postMessage('going');
      socket.write('?');
    });
    socket.write('?');
  });
`;

describe('a forwarder in a thread of its own', () => {
  it('asks for each connection where it leads, here', async () => {
    let target: Target | undefined = targets[0];
    const forwarder = await openForwarderProcess({ host: HOST, port: 0, target: () => target });
    const first = await opened(forwarder);
    expect(await answer(first)).toBe('one');
    target = targets[1];
    expect(await asked(forwarder)).toBe('two');
    expect(await answer(first)).toBe('one');
    forwarder.dropConnections();
    expect(await answer(first)).toBe('closed');
    target = undefined;
    expect(await asked(forwarder)).toBe('closed');
    await forwarder.close();
    await expect(opened(forwarder)).rejects.toThrow('ECONNREFUSED');
  });

  it.each([
    ['here', openForwarder, 1],
    ['apart', openForwarderProcess, 300],
  ] as const)('%s, answers while the thread that opened it does something else', async (where, open, pauses) => {
    const asking = new Worker(ASKING, { eval: true, execArgv: [] });
    const [{ port, answers }] = (await once(asking, 'message')) as [{ port: number; answers: Int32Array }];
    const forwarder = await open({ host: HOST, port: 0, target: () => ({ host: HOST, port }) });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    asking.postMessage(forwarder.port);
    await once(asking, 'message');
    const before = Atomics.load(answers, 0);
    const during = (): number => Atomics.load(answers, 0) - before;
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let left = pauses; left > 0 && during() <= 10; left -= 1) Atomics.wait(pause, 0, 0, 300);
    // Requests under way may still be answered.
    expect(during() > 2 ? 'answered' : 'silent').toBe(where === 'apart' ? 'answered' : 'silent');
    await asking.terminate();
    await forwarder.close();
  });

  it('has a fault from the moment on when it is set, for connections that come as well', async () => {
    const forwarder = await openForwarderProcess({ host: HOST, port: 0, target: () => targets[0] });
    for (let round = 0; round < 20; round += 1) {
      const socket = await opened(forwarder);
      expect(await answer(socket)).toBe('one');
      forwarder.setFault({ kind: 'refuse' });
      expect(await answer(socket)).toBe('closed');
      expect(await asked(forwarder)).toBe('closed');
      forwarder.setFault({ kind: 'blackhole' });
      const held = asked(forwarder);
      // Clock: time in which a wrong answer would come; a slow machine takes longer for both.
      expect(await Promise.race([held, sleep(5, 'held')])).toBe('held');
      forwarder.setFault(undefined);
      expect(await held).toBe('one');
      const known = await opened(forwarder);
      await answer(known);
      forwarder.forgetConnections();
      expect(await answer(known)).toBe('closed');
    }
    await forwarder.close();
    forwarder.setFault(undefined);
  });

  it('closes while connections end that were reset or left, again and again', async () => {
    for (let round = 0; round < 20; round += 1) {
      const forwarder = await openForwarderProcess({ host: HOST, port: 0, target: () => targets[0] });
      const sockets = await Promise.all(Array.from({ length: 8 }, () => opened(forwarder)));
      expect(new Set(await Promise.all(sockets.map(answer)))).toEqual(new Set(['one']));
      for (const [position, socket] of sockets.entries()) {
        socket.write('?'.repeat(1000));
        if (position % 2 === 0) socket.end();
        else socket.resetAndDestroy();
      }
      if (round % 2 === 0) await turn();
      await forwarder.close();
    }
  });

  it('says which address is taken, as the system does', async () => {
    const one = await openForwarderProcess({ host: HOST, port: 0, target: () => targets[0] });
    await expect(openForwarderProcess({ host: HOST, port: one.port, target: () => undefined })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    expect(await asked(one)).toBe('one');
    await one.close();
  });
});

it('an address that the system lacks is told with the command that adds it', async () => {
  // Reserved for documents, so that no machine has them: what 127.9.8.1 is to macOS.
  const hosts = ['192.0.2.1', '192.0.2.2'];
  const opening = openOnOnePort(
    hosts.map((host) => ({ host, target: () => undefined })),
    0,
  );
  await expect(opening).rejects.toThrow('for host in 192.0.2.1 192.0.2.2; do sudo ifconfig lo0 alias $host up; done');
});
