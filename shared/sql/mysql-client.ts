import type { ConnectionOptions, ResultSetHeader } from 'mysql2';

import type { Endpoint, GroupEndpoints } from './endpoints.ts';
import {
  SqlError,
  UNBOUNDED,
  type SqlChange,
  type SqlClient,
  type SqlRow,
  type SqlTransactions,
  type Statement,
  type Target,
} from './client.ts';
import { checkParameters } from './names.ts';
import { toSqlError } from './mysql-error.ts';
import { MysqlPool } from './mysql-pool.ts';
import { MAY_BE_IDLE } from './mysql-plan.ts';
import { ownProcessPause, type ProcessPause } from './process-pause.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface TokenLogin {
  readonly username: string;
  /** Called for each new connection. The token is sent as it is, hence over TLS or within this machine. */
  readonly token: (endpoint: Endpoint) => Promise<string>;
}

export type Login = Credentials | TokenLogin;

export interface MysqlSettings {
  readonly connections?: number;
  /** Connections for transactions; 0: none. The second half waits for one that meets a lock. @default 2 */
  readonly lanes?: number;
  readonly connectTimeoutMs?: number;
  /** Longer than the servers' lock wait of 1 s, so that their own answer comes first. @default 4000 */
  readonly queryTimeoutMs?: number;
  /** A statement that gets no connection in this time was not sent. @default 2000 */
  readonly acquireTimeoutMs?: number;
  /** Encrypts, and accepts only a certificate of the endpoint's name by these authorities. @default Node's */
  readonly tls?: { readonly ca?: string | string[] };
  readonly processPause?: ProcessPause;
}

const DEFAULTS = { connections: 8, lanes: 2, connectTimeoutMs: 1000, queryTimeoutMs: 4000, acquireTimeoutMs: 2000 };

/**
 * Reaches one group over the MySQL protocol, with a small pool for each endpoint, opened on first use, and one for the
 * writer's transactions. Text protocol, since prepared statements pin the connections of a proxy. A read whose
 * connection was lost is retried; a change is its caller's to repeat. `login`: called once for each new pool.
 */
export function mysqlClient(
  address: GroupEndpoints,
  login: () => Promise<Login>,
  settings: MysqlSettings = {},
): SqlClient {
  const options = { ...DEFAULTS, processPause: ownProcessPause(), ...settings };
  const lanes: Endpoint = { ...address.writer };
  const ofLanes = { connections: options.lanes, begin: MAY_BE_IDLE };
  const pools = new EndpointPools(
    (endpoint) => `${endpoint === lanes ? 'lanes ' : ''}${endpoint.host}:${endpoint.port}`,
    async (endpoint) => {
      const connection = connectionOptions(endpoint, await login(), options);
      if (endpoint !== lanes) return new MysqlPool({ ...options, connection });
      return new MysqlPool({ ...options, ...ofLanes, connection: { ...connection, multipleStatements: true } });
    },
  );

  function endpointOf(target: Target): Endpoint {
    if (target === 'writer') return address.writer;
    if (target === 'reader') return address.reader;
    const endpoint = address.nodes[target.node];
    if (!endpoint) throw new SqlError('unreachable', `${address.name} has no node ${target.node}`);
    return endpoint;
  }

  function run<T>(statement: Statement, target: Target, ofWriter = false): Promise<T> {
    checkParameters(statement.parameters);
    return pools.ask(endpointOf(target), (pool) =>
      statement.isolated === true ? pool.runIsolated<T>(statement) : pool.run<T>(statement, ofWriter),
    );
  }

  const transactions: SqlTransactions = {
    atOnce: Math.ceil(options.lanes / 2),
    spare: Math.floor(options.lanes / 2),
    async run(statements) {
      for (const { parameters } of statements) checkParameters(parameters);
      const done = await pools.ask(lanes, (pool) => pool.runPlan(statements));
      return done.map(({ change, rows }) => ({ ...toChange(change), ...(rows && { rows }) }));
    },
  };

  return {
    abilities: {
      // Without readers their endpoint leads to the writer, whose answers are not stale.
      readsFromReaders: address.nodes.length > 1,
      survivesDiskLoss: !address.sharedStorage,
      hasNotifications: true,
      sharesCommits: true,
      bounds: UNBOUNDED,
    },
    nodes: address.nodes.length,
    async select(statement, target) {
      // Without readers a read-only writer answers all the same.
      const ofWriter = target === 'writer' && address.nodes.length > 1;
      const ask = (): Promise<readonly SqlRow[]> => run(statement, target, ofWriter);
      try {
        return await ask();
      } catch (error) {
        // Its connection was opened for it alone.
        if (statement.isolated === true || !isLost(error)) throw error;
        return await ask();
      }
    },
    change: async (statement) => toChange(await run<ResultSetHeader>(statement, 'writer')),
    ...(options.lanes > 0 && { transactions }),
    close: () => pools.close(),
  };
}

function toChange({ affectedRows, insertId }: ResultSetHeader): SqlChange {
  return { affectedRows, insertId };
}

function connectionOptions(
  endpoint: Endpoint,
  login: Login,
  options: typeof DEFAULTS & MysqlSettings,
): ConnectionOptions {
  return {
    host: endpoint.host,
    port: endpoint.port,
    user: login.username,
    ...authentication(endpoint, login, options),
    connectTimeout: options.connectTimeoutMs,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    rowsAsArray: true,
    // A Date drops the microseconds, a number the digits beyond 2^53.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    enableKeepAlive: true,
    ...(options.tls && { ssl: { ...options.tls, verifyIdentity: true } }),
  };
}

function authentication(endpoint: Endpoint, login: Login, { tls }: MysqlSettings): ConnectionOptions {
  if ('password' in login) return { password: login.password };
  if (!tls && !endpoint.host.startsWith('127.'))
    throw new Error(`${endpoint.host}: wanted TLS to send a token over, got none`);
  return { authPlugins: { mysql_clear_password: () => async () => Buffer.from(`${await login.token(endpoint)}\0`) } };
}

/** Whether a connection was lost under a statement. A timeout does not count, since the caller has waited for it. */
function isLost(error: unknown): boolean {
  return (
    error instanceof SqlError && error.failure === 'unclear' && error.errno === 0 && !error.timedOut && !error.wasPaused
  );
}

const ACCESS_DENIED = 1045;

class EndpointPools {
  readonly #keyOf: (endpoint: Endpoint) => string;
  readonly #open: (endpoint: Endpoint) => Promise<MysqlPool>;
  readonly #pools = new Map<string, Promise<MysqlPool>>();

  /** @param open may fail, since it asks for the credentials */
  constructor(keyOf: (endpoint: Endpoint) => string, open: (endpoint: Endpoint) => Promise<MysqlPool>) {
    this.#keyOf = keyOf;
    this.#open = open;
  }

  async ask<T>(endpoint: Endpoint, ask: (pool: MysqlPool) => Promise<T>): Promise<T> {
    const pool = await this.#poolOf(endpoint).catch((error: unknown) => {
      throw error instanceof SqlError ? error : toSqlError(error, false);
    });
    try {
      return await ask(pool);
    } catch (error) {
      if (error instanceof SqlError && error.errno === ACCESS_DENIED) await this.#forget(endpoint, pool);
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#pools.values());
    this.#pools.clear();
    await Promise.all(opened.map((pool) => (pool.status === 'fulfilled' ? pool.value.end() : undefined)));
  }

  #poolOf(endpoint: Endpoint): Promise<MysqlPool> {
    const key = this.#keyOf(endpoint);
    let opening = this.#pools.get(key);
    if (!opening) {
      opening = this.#open(endpoint);
      this.#pools.set(key, opening);
      // A failed look-up of credentials must not be remembered.
      opening.catch(() => this.#pools.delete(key));
    }
    return opening;
  }

  /** The password was rotated: the next statement asks for the credentials again. */
  async #forget(endpoint: Endpoint, pool: MysqlPool): Promise<void> {
    const key = this.#keyOf(endpoint);
    if ((await this.#pools.get(key)) !== pool) return;
    this.#pools.delete(key);
    void pool.end();
  }
}
