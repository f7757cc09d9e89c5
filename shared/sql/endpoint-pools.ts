import { SqlError } from './client.ts';
import type { Endpoint } from './endpoints.ts';
import { toSqlError } from './mysql-error.ts';
import type { MysqlPool } from './mysql-pool.ts';

export interface EndpointPoolsOptions {
  /** Endpoints with one key share a pool. */
  readonly keyOf: (endpoint: Endpoint) => string;
  /** Opens the pool of an endpoint; asks for the credentials, which may fail. */
  readonly open: (endpoint: Endpoint) => Promise<MysqlPool>;
}

const ACCESS_DENIED = 1045;

/** The pools of one group's endpoints, each opened when it is first asked. */
export class EndpointPools {
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
