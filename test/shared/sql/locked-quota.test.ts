import { describe, expect, it } from 'vitest';
import { SqlError, type Statement } from '../../../shared/sql/client.ts';
import { MysqlPool } from '../../../shared/sql/mysql-pool.ts';
import { unionOf } from '../../../shared/sql/union.ts';
import { select } from '../../support/plain-sql.ts';
import { groupAccess, ownTables, sharedClient, sharedConnection } from '../../support/connection-to.ts';

const CONNECTIONS = 8;
const TABLES = 10;
const LOCKED = 0;

// However slow a machine is: what finds no connection fails, and what waits for the lock goes on waiting.
const client = sharedClient(undefined, { connections: CONNECTIONS, acquireTimeoutMs: 20_000, queryTimeoutMs: 60_000 });
const holder = await sharedConnection();
const tableOf = await ownTables(holder, TABLES, 'id INT NOT NULL');
const count = (number: number): Statement => ({
  sql: `SELECT COUNT(*) FROM ${tableOf(number)}`,
  parameters: [],
  table: tableOf(number),
});
const failureOf = (work: Promise<unknown>): Promise<SqlError | undefined> =>
  work.then(
    () => undefined,
    (error: SqlError) => error,
  );

describe('a locked table', () => {
  it('leaves connections to other tables, whichever unions name it: first, or after another', async () => {
    await holder.query(`LOCK TABLES ${tableOf(LOCKED)} WRITE`);
    const stuck: Promise<unknown>[] = [];
    try {
      for (let number = 1; number <= CONNECTIONS; number += 1)
        stuck.push(failureOf(client.select(unionOf([count(number), count(LOCKED)]), 'writer')));
      for (let number = 0; number < CONNECTIONS; number += 1)
        stuck.push(failureOf(client.select(count(LOCKED), 'writer')));
      for (let number = 1; number < TABLES; number += 1)
        expect(await client.select(count(number), 'writer')).toHaveLength(1);
      expect(await select(client, 'SELECT 1')).toHaveLength(1);
    } finally {
      await holder.query('UNLOCK TABLES');
    }
    await Promise.all(stuck);
  });
});

describe('a pool that ends', () => {
  it('tells those that wait for a connection at once that nothing was sent', async () => {
    const group = groupAccess();
    const pool = new MysqlPool({
      connection: { ...group.writer, user: group.user, password: group.password },
      connections: 1,
      acquireTimeoutMs: 5000,
      queryTimeoutMs: 5000,
      processPause: { since: () => false },
    });
    const busy = failureOf(pool.run({ sql: 'SELECT SLEEP(0.3)', parameters: [] }));
    const waiting = failureOf(pool.run({ sql: 'SELECT 1', parameters: [] }));
    const ended = pool.end();
    expect(await waiting).toMatchObject({ failure: 'unreachable', poolExhausted: false });
    expect(await failureOf(pool.run({ sql: 'SELECT 1', parameters: [] }))).toMatchObject({ failure: 'unreachable' });
    await Promise.all([busy, ended]);
  });
});
