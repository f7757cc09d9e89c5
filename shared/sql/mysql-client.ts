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
import { ownStandstill, type Standstill } from './standstill.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** For a server, or a proxy before it, that asks IAM whether a token holds. */
interface TokenLogin {
  readonly username: string;
  /** Asked for each new connection. Sent as it is, hence over TLS alone. */
  readonly token: (endpoint: Endpoint) => Promise<string>;
}

export type Login = Credentials | TokenLogin;

export interface MysqlSettings {
  /** Connections to each endpoint of the group. A function instance needs few. @default 8 */
  readonly connections?: number;
  /**
   * Further connections to the writer, for transactions; half of them are used at once, the others while one of those
   * waits for a lock. 0: there are no transactions. One at a time is what comes together most, and a commit costs two
   * servers as much as four appends or more. @default 2
   */
  readonly lanes?: number;
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
  /**
   * When the process that asks stood still: a time limit that passes meanwhile is no evidence. @default this thread's
   * own watch
   */
  readonly standstill?: Standstill;
}

/**
 * Of connections for transactions: rows, and whole tables that somebody locked, are waited for as short as servers can.
 * A process that was frozen before it could take back a transaction that failed is waited for little longer than a pool
 * trusts an idle connection.
 */
const OF_TRANSACTIONS =
  'SET SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1, SESSION wait_timeout = 40';

const DEFAULTS = { connections: 8, lanes: 2, connectTimeoutMs: 1000, queryTimeoutMs: 4000, acquireTimeoutMs: 2000 };

/**
 * One group reached directly over the MySQL protocol: small pools for the writer, the reader endpoint, and each node by
 * itself, opened when first used, and one for the writer's transactions. Text protocol (`query`), since server-side
 * prepared statements pin the connections of a proxy. A statement that returns rows is run once more where its
 * connection was lost: a dead socket says nothing of the server. One that changes rows is its caller's to repeat.
 *
 * @param login asked once per new pool; a promise, since secrets are fetched
 */
export function mysqlClient(
  address: GroupEndpoints,
  login: () => Promise<Login>,
  settings: MysqlSettings = {},
): SqlClient {
  const options = { ...DEFAULTS, standstill: ownStandstill(), ...settings };
  /** Where transactions go: the writer, over connections of their own. */
  const lanes: Endpoint = { ...address.writer };
  const pools = new EndpointPools({
    keyOf: (endpoint) => `${endpoint === lanes ? 'lanes ' : ''}${endpoint.host}:${endpoint.port}`,
    open: async (endpoint) => {
      const connection = connectionOptions(endpoint, await login(), options);
      if (endpoint !== lanes) return new MysqlPool({ ...options, connection });
      return new MysqlPool({
        ...options,
        connection: { ...connection, multipleStatements: true },
        connections: options.lanes,
        begin: OF_TRANSACTIONS,
      });
    },
  });

  function endpointOf(target: Target): Endpoint {
    if (target === 'writer') return address.writer;
    if (target === 'reader') return address.reader;
    const endpoint = address.nodes[target.node];
    if (!endpoint) throw new SqlError('unreachable', `${address.name} has no node ${target.node}`);
    return endpoint;
  }

  function run<T>(statement: Statement, target: Target): Promise<T> {
    checkParameters(statement.parameters);
    return pools.ask(endpointOf(target), (pool) =>
      statement.apart === true ? pool.runApart<T>(statement) : pool.run<T>(statement),
    );
  }

  const transactions: SqlTransactions = {
    atOnce: Math.ceil(options.lanes / 2),
    spare: Math.floor(options.lanes / 2),
    async run(statements) {
      for (const { parameters } of statements) checkParameters(parameters);
      const done = await pools.ask(lanes, (pool) => pool.runTogether(statements));
      return done.map(({ change, rows }) => ({ ...toChange(change), ...(rows && { rows }) }));
    },
  };

  return {
    abilities: {
      // Without any, the endpoint of readers leads to the writer, whose word is no stale one.
      readsFromReaders: address.nodes.length > 1,
      survivesDiskLoss: !address.sharedStorage,
      hasBells: true,
      sharesCommits: true,
      bounds: UNBOUNDED,
    },
    nodes: address.nodes.length,
    async select(statement, target) {
      try {
        return await run<readonly SqlRow[]>(statement, target);
      } catch (error) {
        // A connection that was opened for it alone was lost by the server.
        if (statement.apart === true || !isLost(error)) throw error;
        return await run<readonly SqlRow[]>(statement, target);
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
    // A JavaScript Date drops the microseconds, a number the digits beyond 2^53.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    enableKeepAlive: true,
    ...(options.tls && { ssl: { ...options.tls, verifyIdentity: true } }),
  };
}

function authentication(endpoint: Endpoint, login: Login, { tls }: MysqlSettings): ConnectionOptions {
  if ('password' in login) return { password: login.password };
  if (!tls) throw new Error(`${endpoint.host}: wanted TLS to send a token over, got none`);
  return { authPlugins: { mysql_clear_password: () => async () => Buffer.from(`${await login.token(endpoint)}\0`) } };
}

/**
 * Whether a connection was lost under a statement, which then may be repeated where it changes nothing. A time limit
 * that passed is no such end, also where it passed in part while this process stood still: whoever asks has waited for
 * it.
 */
function isLost(error: unknown): boolean {
  return (
    error instanceof SqlError &&
    error.failure === 'unclear' &&
    error.errno === 0 &&
    !error.timedOut &&
    !error.stoodStill
  );
}

interface EndpointPoolsOptions {
  /** Endpoints with one key share a pool. */
  readonly keyOf: (endpoint: Endpoint) => string;
  /** Opens the pool of an endpoint; asks for the credentials, which may fail. */
  readonly open: (endpoint: Endpoint) => Promise<MysqlPool>;
}

const ACCESS_DENIED = 1045;

/** The pools of one group's endpoints, each opened when it is first asked. */
class EndpointPools {
  readonly #options: EndpointPoolsOptions;
  readonly #pools = new Map<string, Promise<MysqlPool>>();
  /** Those of `#pools` that are there already, by the endpoint itself: what is asked for with every statement. */
  readonly #open = new Map<Endpoint, MysqlPool>();

  constructor(options: EndpointPoolsOptions) {
    this.#options = options;
  }

  /** Asks the pool of an endpoint, which is opened if it is not yet. Throws `SqlError`. */
  async ask<T>(endpoint: Endpoint, ask: (pool: MysqlPool) => Promise<T>): Promise<T> {
    const pool =
      this.#open.get(endpoint) ??
      (await this.#openPool(endpoint).catch((error: unknown) => {
        throw error instanceof SqlError ? error : toSqlError(error, false);
      }));
    try {
      return await ask(pool);
    } catch (error) {
      if (error instanceof SqlError && error.errno === ACCESS_DENIED) await this.#forget(endpoint, pool);
      throw error;
    }
  }

  /** Ends the pools that are there. What is asked afterwards opens new ones. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#pools.values());
    this.#pools.clear();
    this.#open.clear();
    await Promise.all(opened.map((pool) => (pool.status === 'fulfilled' ? pool.value.end() : undefined)));
  }

  async #openPool(endpoint: Endpoint): Promise<MysqlPool> {
    const key = this.#options.keyOf(endpoint);
    let opening = this.#pools.get(key);
    if (!opening) {
      opening = this.#options.open(endpoint);
      this.#pools.set(key, opening);
      // A failed look-up of the credentials must not be remembered.
      opening.catch(() => this.#pools.delete(key));
    }
    const pool = await opening;
    if (this.#pools.get(key) === opening) this.#open.set(endpoint, pool);
    return pool;
  }

  /** A password that no longer holds was rotated: the next statement asks for the credentials again. */
  async #forget(endpoint: Endpoint, pool: MysqlPool): Promise<void> {
    const key = this.#options.keyOf(endpoint);
    if ((await this.#pools.get(key)) !== pool) return;
    this.#pools.delete(key);
    this.#open.clear();
    void pool.end();
  }
}
