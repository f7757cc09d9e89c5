import { describe, expect, it } from 'vitest';
import type { Statement } from '../../../shared/sql/client.ts';
import { select } from '../../support/plain-sql.ts';
import { transactionsOf } from '../../support/wrapped-client.ts';
import { startRelay } from '../../support/relay.ts';
import { clientTo, groupAccess, ownTables, sharedConnection } from '../../support/connection-to.ts';

const [ENDS_SOON, ENDS_LATE] = ['wait_timeout = 2', 'wait_timeout = 9'];
const OTHERS_WAIT_SECONDS = 5;

const holder = await sharedConnection();
const TABLE = (await ownTables(holder, 1, 'id INT NOT NULL PRIMARY KEY, idle INT NOT NULL DEFAULT 0'))(0);
await holder.query(`INSERT INTO ${TABLE} (id) VALUES (1), (2)`);

const LOCKS: Statement = { sql: `UPDATE ${TABLE} SET idle = idle + 1 WHERE id = 1`, parameters: [] };
const REFUSED: Statement = { sql: `INSERT INTO ${TABLE} (id) VALUES (2)`, parameters: [] };
/** Notes for how long its session may be idle. */
const noteIdle = (id: number): Statement => ({
  sql: `INSERT INTO ${TABLE} (id, idle) SELECT ?, @@session.wait_timeout`,
  parameters: [id],
});

describe('a transaction that was refused', () => {
  it.each([
    ['seconds at most', ENDS_SOON],
    ['longer where its session may be idle for longer: the control, when', ENDS_LATE],
  ])('holds its rows for %s where its client goes silent before it takes it back', async (_, ends) => {
    const access = groupAccess();
    const { promise: refused, resolve } = Promise.withResolvers<void>();
    // Forwards nothing after the transaction's text, like a host that was stopped.
    const forwards = () => (chunk: Buffer) => {
      const at = chunk.indexOf(ENDS_SOON);
      if (at >= 0) chunk.write(ends, at);
      return !chunk.includes('START TRANSACTION');
    };
    await using relay = await startRelay({ to: () => access.writer, forwards, onAnswer: resolve });
    const client = clientTo({ ...access, writer: relay.endpoint }, { queryTimeoutMs: 60_000 });
    const run = transactionsOf(client).run([LOCKS, REFUSED]);
    run.catch(() => undefined);
    await refused;
    await holder.query(`SET SESSION innodb_lock_wait_timeout = ${OTHERS_WAIT_SECONDS}`);
    const others = holder.query(`SELECT id FROM ${TABLE} WHERE id = 1 FOR UPDATE`);
    if (ends === ENDS_SOON) await expect(others).resolves.toBeDefined();
    else await expect(others).rejects.toMatchObject({ errno: 1205 });
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
