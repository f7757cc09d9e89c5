import { createServer, type Server, type Socket } from 'node:net';
import { checkFault, type Fault, ForwardedConnection } from './forwarded-connection.ts';

export interface Forwarder {
  readonly host: string;
  readonly port: number;
  /** Applies to open and new connections; undefined ends the fault. Throws a RangeError. */
  setFault(fault: Fault | undefined): void;
  /** Resets open connections, so that clients reconnect to the current server. */
  dropConnections(): void;
  /** Forgets open connections, as a network does those of a frozen instance: neither end notices until it sends. */
  forgetConnections(): void;
  close(): Promise<void>;
}

export interface ForwarderOptions {
  readonly host: string;
  readonly port: number;
  /** Asked for every connection; undefined resets it. */
  readonly target: () => Target | undefined | Promise<Target | undefined>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Rejects with the system's error (EADDRINUSE, EADDRNOTAVAIL). */
export async function openForwarder(options: ForwarderOptions): Promise<Forwarder> {
  // Paused until forwarded, so that no bytes are lost.
  const server = createServer({ pauseOnConnect: true, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: 511 }, resolve);
  });
  return new TcpForwarder(server, options);
}

class TcpForwarder implements Forwarder {
  readonly host: string;
  readonly port: number;
  readonly #server: Server;
  readonly #target: ForwarderOptions['target'];
  readonly #connections = new Set<ForwardedConnection>();
  /** Accepted during a blackhole, or while the target is unknown. */
  readonly #waiting = new Set<Socket>();
  #fault: Fault | undefined;

  constructor(server: Server, options: ForwarderOptions) {
    const address = server.address();
    this.host = options.host;
    this.port = typeof address === 'object' && address !== null ? address.port : options.port;
    this.#server = server;
    this.#target = options.target;
    server.on('connection', (socket) => this.#take(socket));
  }

  setFault(fault: Fault | undefined): void {
    if (fault !== undefined) checkFault(fault);
    this.#fault = fault;
    for (const connection of this.#connections) connection.setFault(fault);
    if (fault?.kind === 'blackhole') return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) this.#take(socket);
  }

  dropConnections(): void {
    for (const connection of this.#connections) connection.reset();
  }

  forgetConnections(): void {
    for (const connection of this.#connections) connection.forget();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.dropConnections();
    for (const socket of this.#waiting) socket.destroy();
    await closed;
  }

  #take(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    if (this.#fault?.kind === 'blackhole') {
      this.#waiting.add(socket);
      socket.once('close', () => this.#waiting.delete(socket));
      return;
    }
    if (this.#fault?.kind === 'refuse') return void socket.resetAndDestroy();
    const target = this.#target();
    if (!(target instanceof Promise)) return this.#forward(socket, target);
    this.#waiting.add(socket);
    void target.then((found) => {
      // A fault that began in the meantime applies.
      if (!this.#waiting.delete(socket) || socket.destroyed) return;
      if (this.#fault?.kind === 'refuse' || this.#fault?.kind === 'blackhole') return this.#take(socket);
      this.#forward(socket, found);
    });
  }

  #forward(socket: Socket, target: Target | undefined): void {
    if (target === undefined) return void socket.resetAndDestroy();
    const connection: ForwardedConnection = new ForwardedConnection(socket, target, () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    connection.setFault(this.#fault);
  }
}
