import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Endpoint } from '../../shared/sql/endpoints.ts';

interface RelayOptions {
  /** Returns the target of a new connection. */
  readonly to: () => Endpoint;
  /** Returns, for each connection, a function that decides whether a chunk from the client is still forwarded. */
  readonly forwards?: () => (chunk: Buffer) => boolean;
  readonly onAnswer?: () => void;
}

/** A name for a server: it may lead elsewhere from one connection to the next, as DNS does. */
export async function startRelay({ to, forwards = () => () => true, onAnswer = () => undefined }: RelayOptions) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const { host, port } = to();
    const far = connect(port, host);
    const goesOn = forwards();
    let isOn = true;
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.on('data', (chunk) => {
      if (!isOn) return;
      isOn = goesOn(chunk);
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      near.write(chunk);
      if (!isOn) onAnswer();
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    endpoint: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    cut,
    async [Symbol.asyncDispose](): Promise<void> {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
