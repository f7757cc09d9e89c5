import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { inject } from 'vitest';
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

/** As a store reaches a group, with the login of its owner. @param address @default the first of the run's groups */
export function clientTo(address: GroupEndpoints = groupAccess(), settings?: MysqlSettings): SqlClient {
  const { user, password } = groupAccess(address.name);
  // A machine that is busy with other tests may take longer to connect than a function would wait.
  return mysqlClient(address, async () => ({ username: user, password }), { connectTimeoutMs: 30_000, ...settings });
}

/** The same; told of each change before it is sent, and keeps it back by throwing. */
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
