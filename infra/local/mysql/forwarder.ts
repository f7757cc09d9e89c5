import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Fault, ForwardedConnection, type Target } from './forwarded-connection.ts';
import type { JudgeLogin } from './proxied-login.ts';

export type { Target };

export interface ForwarderOptions {
  readonly host: string;
  readonly port: number;
  /** Asked for every connection; undefined resets it. */
  readonly target: () => Target | undefined | Promise<Target | undefined>;
  /** Judges the logins at a proxy. */
  readonly judge?: JudgeLogin;
}

export type Forwarder = Awaited<ReturnType<typeof openForwarder>>;

/** Rejects with the system's error (EADDRINUSE, EADDRNOTAVAIL). */
export async function openForwarder({ host, port, target, judge }: ForwarderOptions) {
  const connections = new Set<ForwardedConnection>();
  /** Accepted during a blackhole, or while the target is unknown. */
  const waiting = new Set<Socket>();
  let fault: Fault | undefined;
  const isUnder = (kind: Fault['kind']): boolean => fault?.kind === kind;

  async function take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (isUnder('refuse')) return void socket.resetAndDestroy();
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    if (isUnder('blackhole')) return;
    const found = await target();
    // A fault that began in the meantime applies.
    if (isUnder('blackhole') || !waiting.delete(socket) || socket.destroyed) return;
    if (found === undefined || isUnder('refuse')) return void socket.resetAndDestroy();
    const closed = (): unknown => connections.delete(connection);
    const connection: ForwardedConnection = new ForwardedConnection(socket, found, closed, judge);
    connections.add(connection);
    connection.setFault(fault);
  }

  // Paused until forwarded, so that no bytes are lost.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => void take(socket));
  server.listen({ host, port, backlog: 511 });
  await once(server, 'listening');
  const dropConnections = (): void => {
    for (const connection of connections) connection.reset();
  };
  return {
    host,
    port: (server.address() as AddressInfo).port,
    /** Applies to open and new connections; undefined ends the fault. */
    setFault(next: Fault | undefined): void {
      fault = next;
      for (const connection of connections) connection.setFault(next);
      if (isUnder('blackhole')) return;
      const again = [...waiting];
      waiting.clear();
      for (const socket of again) void take(socket);
    },
    /** Resets open connections, so that clients reconnect to the current server. */
    dropConnections,
    /** Forgets open connections, as a network does those of a frozen instance: neither end notices until it sends. */
    forgetConnections() {
      for (const connection of connections) connection.forget();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      dropConnections();
      for (const socket of waiting) socket.destroy();
      await closed;
    },
  };
}
