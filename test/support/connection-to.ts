import { randomUUID } from 'node:crypto';
import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { afterAll, inject } from 'vitest';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { GroupEndpoints } from '../../shared/sql/endpoints.ts';
import { mysqlClient, type MysqlSettings } from '../../shared/sql/mysql-client.ts';
import type { GroupAccess } from './store-access.ts';

/** A group of the run's servers, with the login of its owner. @param name @default the first */
export function groupAccess(name?: string): GroupAccess {
  const { groups } = inject('servers');
  const group = name === undefined ? groups[0] : groups.find((one) => one.name === name);
  if (!group) throw new Error(`no group ${name ?? ''}`);
  return group;
}

export function connectionTo(group?: string, options: ConnectionOptions = {}): Promise<Connection> {
  const { writer, user, password } = groupAccess(group);
  return createConnection({ ...writer, user, password, supportBigNumbers: true, ...options });
}

/** A connection that the tests of a file share, after which it ends. */
export async function sharedConnection(group?: string): Promise<Connection> {
  const connection = await connectionTo(group);
  afterAll(() => connection.end());
  return connection;
}

/** Makes tables of a file's own, gone after its tests. Returns how statements name each. */
export async function ownTables(
  connection: Connection,
  count: number,
  columns: string,
): Promise<(number: number | string) => string> {
  const database = `own_${randomUUID().replaceAll('-', '')}`;
  const tableOf = (number: number | string): string => `\`${database}\`.t${number}`;
  await connection.query(`CREATE DATABASE ${database}`);
  afterAll(() => connection.query(`DROP DATABASE ${database}`));
  for (let number = 0; number < count; number += 1)
    await connection.query(`CREATE TABLE ${tableOf(number)} (${columns})`);
  return tableOf;
}

/** Connects as a store does, with the login of the owner. @param address @default the first of the run's groups */
export function clientTo(address: GroupEndpoints = groupAccess(), settings?: MysqlSettings): SqlClient {
  const { user, password } = groupAccess(address.name);
  // A machine that is busy with other tests may take longer to connect than a function would wait.
  return mysqlClient(address, async () => ({ username: user, password }), { connectTimeoutMs: 30_000, ...settings });
}

/** The same, closed after the tests of a file. */
export function sharedClient(...given: Parameters<typeof clientTo>): SqlClient {
  const client = clientTo(...given);
  afterAll(() => client.close());
  return client;
}

/** Works as `clientTo` does. A callback sees each change before it is sent, and prevents it by throwing. */
export function watchedClient(
  address: GroupEndpoints,
  beforeChange: (sql: string) => unknown,
  settings?: MysqlSettings,
): SqlClient {
  const client = clientTo(address, settings);
  return {
    ...client,
    async change(statement) {
      await beforeChange(statement.sql);
      return client.change(statement);
    },
  };
}
