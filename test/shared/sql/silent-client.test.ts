import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { select } from '../../support/plain-sql.ts';
import { startRelay } from '../../support/relay.ts';
import { clientTo, connectionTo, groupAccess } from '../../support/connection-to.ts';

const TABLE = `\`silent_${randomUUID().replaceAll('-', '')}\`.t`;
const DATABASE = TABLE.slice(0, -2);
/** Less than a session may be idle that is trusted again. */
const OTHERS_WAIT_SECONDS = 20;

const holder = await connectionTo();
beforeAll(async () => {
  await holder.query(`CREATE DATABASE ${DATABASE}`);
  await holder.query(`CREATE TABLE ${TABLE} (id INT NOT NULL PRIMARY KEY, idle INT NOT NULL DEFAULT 0)`);
  await holder.query(`INSERT INTO ${TABLE} (id) VALUES (1), (2)`);
});
afterAll(async () => {
  await holder.query(`DROP DATABASE ${DATABASE}`);
  await holder.end();
});

const LOCKS: Statement = { sql: `UPDATE ${TABLE} SET idle = idle + 1 WHERE id = 1`, parameters: [] };
const REFUSED: Statement = { sql: `INSERT INTO ${TABLE} (id) VALUES (2)`, parameters: [] };
/** Notes for how long its session may be idle. */
const noteIdle = (id: number): Statement => ({
  sql: `INSERT INTO ${TABLE} (id, idle) SELECT ?, @@session.wait_timeout`,
  parameters: [id],
});

function transactionsOf({ transactions }: SqlClient): NonNullable<SqlClient['transactions']> {
  if (!transactions) throw new Error('wanted transactions');
  return transactions;
}

describe('a transaction that was refused', () => {
  it('holds its rows for seconds at most where its client goes silent before it takes it back', async () => {
    const access = groupAccess();
    const { promise: refused, resolve } = Promise.withResolvers<void>();
    // What comes after the transaction's text is not forwarded, as of a host that was stopped.
    const forwards = () => (chunk: Buffer) => !chunk.includes('START TRANSACTION');
    await using relay = await startRelay({ to: () => access.writer, forwards, onAnswer: resolve });
    const client = clientTo({ ...access, writer: relay.endpoint }, { queryTimeoutMs: 60_000 });
    const run = transactionsOf(client).run([LOCKS, REFUSED]);
    run.catch(() => undefined);
    await refused;
    await holder.query(`SET SESSION innodb_lock_wait_timeout = ${OTHERS_WAIT_SECONDS}`);
    await expect(holder.query(`SELECT id FROM ${TABLE} WHERE id = 1 FOR UPDATE`)).resolves.toBeDefined();
    relay.cut();
    await client.close();
  });

  it('leaves a session that may be idle as long as before', async () => {
    const client = clientTo();
    const { run } = transactionsOf(client);
    await expect(run([LOCKS, REFUSED])).rejects.toMatchObject({ failure: 'duplicate', position: 1 });
    await run([noteIdle(10)]);
    await run([noteIdle(11), noteIdle(12)]);
    await run([noteIdle(13)]);
    const rows = await select(client, `SELECT idle FROM ${TABLE} WHERE id >= 10 ORDER BY id`);
    expect(rows.map(([idle]) => Number(idle))).toEqual([40, 2, 2, 40]);
    await client.close();
  });
});
