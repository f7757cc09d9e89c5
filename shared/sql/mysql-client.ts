import { createPool, type Pool, type PoolConnection, type PoolOptions, type ResultSetHeader } from 'mysql2';
import type { Endpoint, GroupAddress } from '../topology/topology.ts';
import { checkParameters } from './check-parameters.ts';
import { SqlError, UNBOUNDED, type SqlChange, type SqlClient, type SqlRow, type Statement, type Target } from './client.ts';
import { toSqlError } from './mysql-error.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** For a server, or a proxy before it, that asks IAM whether a token holds. */
export interface TokenLogin {
  readonly username: string;
  /** Asked for each new connection. Sent as it is, hence over TLS alone. */
  readonly token: (endpoint: Endpoint) => Promise<string>;
}

export type Login = Credentials | TokenLogin;

export interface MysqlSettings {
  /** Connections to each endpoint of the group. A function instance needs few. @default 8 */
  readonly connections?: number;
  /** A node that does not accept a connection in this time counts as unreachable. @default 1000 */
  readonly connectTimeoutMs?: number;
  /**
   * A statement without an answer in this time is abandoned with its connection; it may still be done. Longer than
   * the servers' lock wait of 3 s, so that the server's own clear answer comes first. @default 4000
   */
  readonly queryTimeoutMs?: number;
  /** A statement that finds no free connection in this time was not sent. @default 2000 */
  readonly acquireTimeoutMs?: number;
  /**
   * Encrypt, and connect only to who shows a certificate of the endpoint's own name by one of these authorities; left
   * out, by one that Node trusts. @default not encrypted
   */
  readonly tls?: { readonly ca?: string | string[] };
}

const ACCESS_DENIED = 1045;

const DEFAULTS = { connections: 8, connectTimeoutMs: 1000, queryTimeoutMs: 4000, acquireTimeoutMs: 2000 };

/**
 * One group reached directly over the MySQL protocol: small pools for the writer, the reader endpoint, and each node
 * by itself, opened when first used. Text protocol (`query`), since server-side prepared statements pin the
 * connections of a proxy.
 *
 * @param login asked once per new pool; a promise, since secrets are fetched
 */
export function mysqlClient(address: GroupAddress, login: () => Promise<Login>, settings: MysqlSettings = {}): SqlClient {
  const options = { ...DEFAULTS, ...settings };
  const pools = new Map<string, Promise<Pool>>();
  /** Those of `pools` that are there already, by the endpoint itself: what is asked for with every statement. */
  const open = new Map<Endpoint, Pool>();

  async function openPool(endpoint: Endpoint): Promise<Pool> {
    const key = `${endpoint.host}:${endpoint.port}`;
    let opening = pools.get(key);
    if (!opening) {
      opening = login().then((known) => createPool(poolOptions(endpoint, known, options)));
      pools.set(key, opening);
      // A failed look-up of the credentials must not be remembered.
      opening.catch(() => pools.delete(key));
    }
    const pool = await opening;
    if (pools.get(key) === opening) open.set(endpoint, pool);
    return pool;
  }

  /** A password that no longer holds was rotated: the next statement asks for the credentials again. */
  async function forget(endpoint: Endpoint, pool: Pool): Promise<void> {
    const key = `${endpoint.host}:${endpoint.port}`;
    if ((await pools.get(key)) !== pool) return;
    pools.delete(key);
    open.clear();
    void endPool(pool);
  }

  function endpointOf(target: Target): Endpoint {
    if (target === 'writer') return address.writer;
    if (target === 'reader') return address.reader;
    const endpoint = address.nodes[target.node];
    if (!endpoint) throw new SqlError('unreachable', `${address.name} has no node ${target.node}`);
    return endpoint;
  }

  async function run<T>(statement: Statement, target: Target): Promise<T> {
    checkParameters(statement.parameters);
    const endpoint = endpointOf(target);
    const pool = open.get(endpoint) ?? (await openPool(endpoint).catch((error: unknown) => {
      throw error instanceof SqlError ? error : toSqlError(error, false);
    }));
    try {
      return await runOn<T>(pool, statement, options);
    } catch (error) {
      if (error instanceof SqlError && error.errno === ACCESS_DENIED) await forget(endpoint, pool);
      throw error;
    }
  }

  return {
    abilities: { readsFromReaders: true, survivesDiskLoss: !address.sharedStorage, bounds: UNBOUNDED },
    nodes: address.nodes.length,
    select: (statement, target) => run<readonly SqlRow[]>(statement, target),
    async change(statement): Promise<SqlChange> {
      const { affectedRows, insertId } = await run<ResultSetHeader>(statement, 'writer');
      return { affectedRows, insertId };
    },
    async close(): Promise<void> {
      const opened = await Promise.allSettled(pools.values());
      pools.clear();
      open.clear();
      await Promise.all(opened.map((pool) => (pool.status === 'fulfilled' ? endPool(pool.value) : undefined)));
    },
  };
}

function poolOptions(endpoint: Endpoint, login: Login, options: typeof DEFAULTS & MysqlSettings): PoolOptions {
  return {
    host: endpoint.host,
    port: endpoint.port,
    user: login.username,
    ...authentication(endpoint, login, options),
    connectionLimit: options.connections,
    // Idle ones are closed at all only where fewer may be idle than open. One that is open keeps a serverless cluster awake.
    maxIdle: Math.max(1, options.connections - 1),
    idleTimeout: 60_000,
    connectTimeout: options.connectTimeoutMs,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    rowsAsArray: true,
    // A JavaScript Date drops the microseconds, a number the digits beyond 2^53.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    enableKeepAlive: true,
    ...(options.tls && { ssl: { ...options.tls, verifyIdentity: true } }),
  };
}

function authentication(endpoint: Endpoint, login: Login, { tls }: MysqlSettings): PoolOptions {
  if ('password' in login) return { password: login.password };
  if (!tls) throw new Error(`${endpoint.host}: wanted TLS to send a token over, got none`);
  return { authPlugins: { mysql_clear_password: () => async () => Buffer.from(`${await login.token(endpoint)}\0`) } };
}

/** Runs a statement on a connection of the pool. */
function runOn<T>(pool: Pool, statement: Statement, { acquireTimeoutMs, queryTimeoutMs }: { readonly acquireTimeoutMs: number; readonly queryTimeoutMs: number }): Promise<T> {
  return new Promise((resolve, reject) => {
    acquire(pool, acquireTimeoutMs, (error, connection) => {
      if (!connection) return reject(error as Error);
      const limit = timeLimitOf(connection, queryTimeoutMs);
      limit.begin((late) => {
        // Whatever the server still does with it, no later statement may wait behind it or get its answer.
        connection.destroy();
        reject(late);
      });
      connection.query({ sql: statement.sql, values: [...statement.parameters] }, (failure, result) => {
        if (!limit.end()) return;
        if (!failure) {
          connection.release();
          resolve(result as T);
          return;
        }
        const sorted = toSqlError(failure, true);
        // Nor may one follow what is not known to be over. A server that has turned read-only is no writer any more, so
        // that the next connection must be made anew.
        if (sorted.failure === 'unclear' || sorted.failure === 'unreachable') connection.destroy();
        else connection.release();
        reject(sorted);
      });
    });
  });
}

/** How long a statement may take on a connection, which runs one at a time. */
interface TimeLimit {
  begin(onLate: (error: SqlError) => void): void;
  /** Returns whether it was in time. */
  end(): boolean;
}

const timeLimits = new WeakMap<PoolConnection, TimeLimit>();

/** The time limit of a connection's statements. To make and clear a timer for each, as mysql2 does, takes longer than all else here. */
function timeLimitOf(connection: PoolConnection, milliseconds: number): TimeLimit {
  const known = timeLimits.get(connection);
  if (known) return known;
  let onLate: ((error: SqlError) => void) | undefined;
  // It goes on beyond the end of a statement; the next sets it anew, whether it has fired meanwhile or not.
  const timer = setTimeout(() => {
    const tell = onLate;
    onLate = undefined;
    tell?.(new SqlError('unclear', `no answer within ${milliseconds} ms`, { timedOut: true }));
  }, milliseconds).unref();
  const made: TimeLimit = {
    begin(tell) {
      onLate = tell;
      timer.refresh();
    },
    end() {
      const inTime = onLate !== undefined;
      onLate = undefined;
      return inTime;
    },
  };
  timeLimits.set(connection, made);
  return made;
}

/** Gives a connection of the pool, or `unreachable` in good time: the pool itself would queue for ever. */
function acquire(pool: Pool, timeoutMs: number, give: (error: SqlError | undefined, connection?: PoolConnection) => void): void {
  let isGiven = false;
  let isLate = false;
  let timer: NodeJS.Timeout | undefined;
  pool.getConnection((error, connection) => {
    isGiven = true;
    clearTimeout(timer);
    if (isLate) connection?.release();
    else if (error) give(toSqlError(error, false));
    else give(undefined, connection);
  });
  // A free connection is given with the next tick: only who really waits needs a timer.
  process.nextTick(() => {
    if (isGiven) return;
    timer = setTimeout(() => {
      isLate = true;
      give(new SqlError('unreachable', `no connection free within ${timeoutMs} ms`, { poolExhausted: true }));
    }, timeoutMs);
  });
}

function endPool(pool: Pool): Promise<void> {
  return new Promise((resolve) => {
    pool.end(() => resolve());
  });
}
