import type { Socket } from 'node:net';
import {
  createConnection,
  createPool,
  type Connection,
  type ConnectionOptions,
  type Pool,
  type PoolConnection,
} from 'mysql2';
import { exceptionOf } from './exceptions.ts';

/** A server that takes no connection in this time counts as unavailable. */
const CONNECT_MS = 5000;
/** Of one login; the server refuses what is too much for it. */
const POOL = { connectionLimit: 1000, maxIdle: 16, idleTimeout: 30_000 } as const;

/** How to reach a cluster's MySQL server. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** Connections to the clusters' servers, kept for a while by login. */
export class Connections {
  readonly #pools = new Map<string, Pool>();
  readonly #open = new Set<PoolConnection>();

  /** Takes a connection; release it, or destroy it with its session. Throws a `DataApiException`. */
  take(login: Login): Promise<PoolConnection> {
    const key = JSON.stringify([login.host, login.port, login.user, login.password]);
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = createPool({ ...optionsOf(login), ...POOL });
      pool.on('connection', (connection) => this.#watch(connection));
      this.#pools.set(key, pool);
    }
    const from = pool;
    return new Promise((resolve, reject) => {
      from.getConnection((error, connection) => {
        if (error) return reject(exceptionOf(error));
        return resolve(connection);
      });
    });
  }

  /** Ends what a connection of this login is doing; the connection stays. Rejects when the server cannot be asked. */
  async killQuery(login: Login, threadId: number): Promise<void> {
    const connection = createConnection(optionsOf(login));
    connection.on('error', () => undefined);
    try {
      await new Promise<void>((resolve, reject) => {
        connection.query(`KILL QUERY ${Math.trunc(threadId)}`, (error) => (error ? reject(error) : resolve()));
      });
    } finally {
      connection.destroy();
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#open) cut(connection);
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => new Promise<void>((resolve) => pool.end(() => resolve()))));
  }

  #watch(connection: PoolConnection): void {
    this.#open.add(connection);
    // A broken connection, idle or not, is no reason to end the process.
    connection.on('error', () => undefined);
    socketOf(connection).once('close', () => this.#open.delete(connection));
  }
}

function optionsOf({ host, port, user, password }: Login): ConnectionOptions {
  return {
    host,
    port,
    user,
    password,
    connectTimeout: CONNECT_MS,
    charset: 'utf8mb4',
    supportBigNumbers: true,
    // Its other way to read rows refuses a column `__proto__`.
    disableEval: true,
    enableKeepAlive: true,
    // The driver's own default, which would reserve the names of functions; the session keeps the server's sql_mode.
    flags: ['-IGNORE_SPACE'],
  };
}

/** Ends a connection at once, whatever is still to come on it: `destroy` alone reads it to its end. */
export function cut(connection: Connection): void {
  connection.destroy();
  socketOf(connection).destroy();
}

/** The driver's types leave it out. */
function socketOf(connection: Connection): Socket {
  return (connection as unknown as { readonly stream: Socket }).stream;
}
