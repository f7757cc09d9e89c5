import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createPool, type Pool, type ResultSetHeader } from 'mysql2';
import { readConfig } from '../../../functions/environment/config.ts';
import { secretOf } from '../../../functions/environment/connect/connector.ts';
import { secretCredentials } from '../../../functions/environment/credentials.ts';
import { deploymentOptions } from '../../../functions/environment/deployment.ts';
import { STORE_VARIABLES } from '../../../shared/environment.ts';
import {
  SqlError,
  UNBOUNDED,
  type SqlClient,
  type SqlRow,
  type Statement,
  type Target,
} from '../../../shared/sql/client.ts';
import type { Endpoint } from '../../../shared/sql/endpoints.ts';
import type { Credentials } from '../../../shared/sql/mysql-client.ts';
import { toSqlError } from '../../../shared/sql/mysql-error.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';

/** A statement, and the health check after it, find a kept one each. */
const CONNECTIONS = 3;

/**
 * A group's client that trusts every connection it kept, however long that was idle, even for health checks. It takes
 * the loss of a connection for that of the node. A control.
 */
function keepingClient(address: GroupAddress, login: () => Promise<Credentials>): SqlClient {
  const pools = new Map<Endpoint, Promise<Pool>>();

  async function open({ host, port }: Endpoint): Promise<Pool> {
    const { username: user, password } = await login();
    const pool = createPool({
      host,
      port,
      user,
      password,
      connectionLimit: CONNECTIONS,
      connectTimeout: 1000,
      charset: 'utf8mb4_bin',
      timezone: 'Z',
      rowsAsArray: true,
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
    await openAll(pool);
    return pool;
  }

  /** Opens all: however few were used at once before the freeze, there is a second one to trust. */
  async function openAll(pool: Pool): Promise<void> {
    const opened = await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => pool.promise().getConnection()));
    for (const one of opened) if (one.status === 'fulfilled') one.value.release();
  }

  function poolOf(target: Target): Promise<Pool> {
    const endpoint = target === 'writer' || target === 'reader' ? address[target] : address.nodes[target.node];
    if (!endpoint) throw new SqlError('unreachable', 'no such node');
    let pool = pools.get(endpoint);
    if (!pool) pools.set(endpoint, (pool = open(endpoint)));
    return pool;
  }

  async function run<T>({ sql, parameters }: Statement, target: Target): Promise<T> {
    const pool = await poolOf(target);
    return new Promise((resolve, reject) => {
      pool.query({ sql, values: [...parameters], timeout: 4000 }, (error, result) =>
        error ? reject(toSqlError(error, false)) : resolve(result as T),
      );
    });
  }

  return {
    abilities: { readsFromReaders: true, survivesDiskLoss: !address.sharedStorage, bounds: UNBOUNDED },
    nodes: address.nodes.length,
    select: (statement, target) => run<readonly SqlRow[]>(statement, target),
    async change(statement) {
      const { affectedRows, insertId } = await run<ResultSetHeader>(statement, 'writer');
      return { affectedRows, insertId };
    },
    async close() {
      for (const pool of pools.values()) (await pool).end();
    },
  };
}

let opened: Deployment | undefined;

/** Returns a function's deployment over connections that it keeps, and trusts, for ever. A control. */
export function keepingDeployment(): Deployment {
  const config = readConfig(STORE_VARIABLES);
  const secrets = new SecretsManagerClient();
  opened ??= openDeployment({
    ...deploymentOptions(config),
    connect: (group) => keepingClient(group, secretCredentials(secrets, secretOf(group, config.databaseUser))),
  });
  return opened;
}
