import { createServer, type Server, type Socket } from 'node:net';
import { checkFault, type Fault } from './fault.ts';
import { ForwardedConnection } from './forwarded-connection.ts';

export type { Fault } from './fault.ts';

/** An address of its own that leads to whichever server it is pointed at, and can misbehave on request. */
export interface Forwarder {
  readonly host: string;
  readonly port: number;
  /** Holds for open connections and new ones until it is set again; undefined ends it. Throws a RangeError. */
  setFault(fault: Fault | undefined): void;
  /** Resets the open connections, so that clients come again and reach the server that is right now. */
  dropConnections(): void;
  /**
   * Forgets the open connections, as whatever stands between does with those of an instance that was frozen for long:
   * neither end hears of it, and a client that sends on one is reset.
   */
  forgetConnections(): void;
  close(): Promise<void>;
}

export interface ForwarderOptions {
  readonly host: string;
  /** 0 = any that is free. */
  readonly port: number;
  /** Asked once for every connection; undefined: there is no server, the connection is reset. */
  readonly target: () => Target | undefined | Promise<Target | undefined>;
}

/** A server's address. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Starts to listen. Rejects with the system's error (EADDRINUSE, EADDRNOTAVAIL) when it cannot. */
export async function openForwarder(options: ForwarderOptions): Promise<Forwarder> {
  // Paused until they are forwarded, so that nothing of what they send is lost.
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
  /** Taken during a blackhole, to be forwarded when it ends. */
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
      // A fault that has begun meanwhile holds for this one, too.
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
