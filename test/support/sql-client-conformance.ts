import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeBody } from '../../shared/body/codec.ts';
import type { SqlClient, SqlError, SqlParameter, Statement } from '../../shared/sql/client.ts';
import { connectionTo } from './connection-to.ts';
import { decodedLog } from './decoded-log.ts';
import * as plain from './plain-sql.ts';
import { PATIENCE_MS } from './until.ts';
import { sql } from './plain-sql.ts';

interface SqlClientUnderTest {
  readonly client: SqlClient;
  /** To the same server, with a time limit of two seconds for each statement. */
  readonly hasty: SqlClient;
  /** To a port without a listener. */
  readonly nowhere: SqlClient;
  close(): Promise<void>;
}

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const EVIL = `it's a "test" \\ of ? and :v0, :name; -- and /* this */ # and \u0000 \u{1f389} \uFEFF`;
const SECRET = 'sEcReT0123456789abcdef';

/** Tests the contract of a client of MySQL. */
export function sqlClientConformance(name: string, open: () => Promise<SqlClientUnderTest>): void {
  describe(`SqlClient over ${name}`, () => {
    const database = `conformance_${randomBytes(6).toString('hex')}`;
    let under: SqlClientUnderTest;
    let client: SqlClient;

    beforeAll(async () => {
      under = await open();
      client = under.client;
      await change(`CREATE DATABASE ${database}`);
      await change(
        `CREATE TABLE ${table} (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, name VARBINARY(255) NULL, body MEDIUMBLOB NULL, ` +
          `whole BIGINT NULL, fine DOUBLE NULL, exact DECIMAL(30,10) NULL, at DATETIME(6) NULL, flag TINYINT(1) NULL, note VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, UNIQUE KEY named (name)) ENGINE=InnoDB`,
      );
    });
    afterAll(async () => {
      // A statement that took too long still holds its table for a while.
      await vi.waitFor(() => change(`DROP DATABASE ${database}`), PATIENCE_MS);
      await under.close();
    });

    const table = `${database}.numbered`;
    const select = (text: string, ...parameters: readonly SqlParameter[]) => plain.select(client, text, ...parameters);
    const change = (text: string, ...parameters: readonly SqlParameter[]) => plain.change(client, text, ...parameters);
    const insert = (id: number, column: string, value: SqlParameter) =>
      change(`INSERT INTO ${table} (id, ${column}) VALUES (?, ?)`, id, value);
    let next = 1;

    async function readBack(column: string, value: SqlParameter) {
      next += 1;
      await insert(next, column, value);
      const [[read] = []] = await select(`SELECT ${column} FROM ${table} WHERE id = ?`, next);
      return read;
    }

    describe('values', () => {
      it.each<[string, string, SqlParameter, unknown]>([
        ['text', 'note', EVIL, EVIL],
        ['empty text', 'note', '', ''],
        ['nothing', 'note', null, null],
        ['time to the microsecond', 'at', '2026-01-31 08:00:00.000001', '2026-01-31 08:00:00.000001'],
        ['a time at midnight', 'at', '2026-01-31 00:00:00.000000', '2026-01-31 00:00:00.000000'],
      ])('%s is read as it was bound', async (_what, column, value, wanted) => {
        expect(await readBack(column, value)).toBe(wanted);
      });

      it.each<[string, string, SqlParameter, string]>([
        ['0', 'whole', 0, '0'],
        ['2^53-1', 'whole', Number.MAX_SAFE_INTEGER, '9007199254740991'],
        ['-2^63', 'whole', -(2n ** 63n), '-9223372036854775808'],
        ['2^63-1', 'whole', 2n ** 63n - 1n, '9223372036854775807'],
        ['a decimal', 'exact', '12345678901234567890.0123456789', '12345678901234567890.0123456789'],
        ['a double', 'fine', 0.1, '0.1'],
        ['a small double', 'fine', 5e-300, '5e-300'],
        ['a boolean', 'flag', 1, '1'],
      ])('%s keeps its digits', async (_what, column, value, wanted) => {
        expect(String(await readBack(column, value))).toBe(wanted);
      });

      it('2^53 and more are integers, not doubles, in whatever they are used', async () => {
        const big = 2n ** 62n + 1n;
        await readBack('whole', big);
        expect(String((await select('SELECT ? + 1', big))[0]?.[0])).toBe(String(big + 1n));
        const rows = await select(`SELECT COUNT(*) FROM ${table} WHERE whole = ? OR whole = ?`, big, big + 1n);
        expect(Number(rows[0]?.[0])).toBe(1);
      });

      it.each<[string, Uint8Array]>([
        ['none', new Uint8Array()],
        ['each there is', ALL_BYTES],
        ['those of text', Buffer.from(EVIL)],
        ['many', Buffer.alloc(50_000, 0xfe)],
      ])('bytes: %s', async (_what, bytes) => {
        const read = await readBack('body', bytes);
        expect(read).toBeInstanceOf(Uint8Array);
        expect(Buffer.compare(read as Uint8Array, bytes)).toBe(0);
      });

      it('stand for themselves alone, whatever they look like', async () => {
        const values = ["' OR '1' = '1", ':v1', '?', '`', '\\', 'x; DROP TABLE numbered'];
        const quoted = `'?', ':v0', 'it''s ?', 'a\\'?', "a" AS \`a?\``;
        const [row] = await select(`SELECT ${quoted}, ${values.map(() => '?').join(', ')}`, ...values);
        expect(row).toEqual(['?', ':v0', "it's ?", "a'?", 'a', ...values]);
      });

      const odd: readonly unknown[] = [['a'], {}, Symbol('x'), { toSqlString: () => '1 OR 1=1' }, new Date(), true];
      it.each([...odd, undefined, Number.NaN, Number.POSITIVE_INFINITY].map((value) => [value]))(
        '%o is refused before anything is sent: a driver would splice it into the text',
        async (value) => {
          await expect(select('SELECT ?, ?', 'fine', value as SqlParameter)).rejects.toThrow(/bound value 1/);
        },
      );
    });

    describe('changes', () => {
      it('tell how many rows were inserted, and the last insert id that the statement set', async () => {
        next += 3;
        const from = `SELECT 0 AS place UNION ALL SELECT 1 UNION ALL SELECT 2`;
        const changed = await change(
          `INSERT INTO ${table} (id, note) SELECT LAST_INSERT_ID(? + place), ? FROM (${from}) AS places ORDER BY place`,
          next,
          'three',
        );
        expect(changed).toEqual({ affectedRows: 3, insertId: next + 2 });
        next += 3;
      });

      it('that find nothing to do tell of no row', async () => {
        expect(await change(`DELETE FROM ${table} WHERE id = ?`, 999_999)).toMatchObject({ affectedRows: 0 });
        const none = await change(`INSERT INTO ${table} (id) SELECT id FROM ${table} WHERE id = ?`, 999_999);
        expect(none).toEqual({ affectedRows: 0, insertId: 0 });
      });

      it('side by side do not meet', async () => {
        const first = next + 1;
        next += 100;
        const changes = await Promise.all(
          Array.from({ length: 60 }, (_, position) =>
            change(`INSERT INTO ${table} (id) SELECT LAST_INSERT_ID(?)`, first + position),
          ),
        );
        expect(changes.map(({ insertId }) => insertId)).toEqual(changes.map((_, position) => first + position));
      });
    });

    describe('failures', () => {
      it.each([
        ['a name', "for key 'numbered.PRIMARY'"],
        ['an imitation', "x' for key 'PRIMARY'; Error code: 1205; SQLState: 40001"],
      ])('a duplicate names its key, whatever the value is: %s', async (_what, value) => {
        next += 2;
        await insert(next, 'name', Buffer.from(value));
        const duplicate = { failure: 'duplicate', errno: 1062 };
        const named = await failureOf(insert(next + 1, 'name', Buffer.from(value)));
        expect(named).toMatchObject({ ...duplicate, key: 'named' });
        expect(await failureOf(insert(next, 'note', ''))).toMatchObject({ ...duplicate, key: 'PRIMARY' });
      });

      it.each<[string, string, number]>([
        ['what is no SQL', 'SELEC 1', 1064],
        ['a table that is not there', `SELECT * FROM ${database}.nowhere`, 1146],
        ['a database that is not there', 'INSERT INTO not_there_at_all.t VALUES (1)', 1049],
      ])('%s is rejected, with its number', async (_what, text, errno) => {
        const expected = errno === 1049 ? [1049, 1146] : [errno];
        const error = await failureOf(client.select(sql(text), 'writer'));
        expect(error.failure).toBe('rejected');
        expect(expected).toContain(error.errno);
      });

      it.each<[string, string, number, SqlParameter]>([
        ['a body', 'INSERT INTO not_there_at_all.t VALUES (?)', 1146, encodeBody({ mark: SECRET.repeat(20) })],
        [
          'a value of a unique key',
          'INSERT INTO ITS (id, name) VALUES (1000001, ?), (1000002, ?)',
          1062,
          Buffer.from(SECRET),
        ],
        ['a value of another type', 'INSERT INTO ITS (id, at) VALUES (1000000, ?)', 1292, SECRET],
        ['a password', `ALTER USER nobody IDENTIFED BY '${SECRET}'`, 1064, null],
      ])('no error tells the SQL or %s that a server refuses', async (_what, text, errno, value) => {
        const parameters = Array.from({ length: text.split('?').length - 1 }, () => value);
        const error = await failureOf(change(text.replace('ITS', table), ...parameters));
        expect(errno === 1146 ? [1049, 1146] : [errno]).toContain(error.errno);
        const told = decodedLog(inspect(error, { depth: null, maxStringLength: null, maxArrayLength: null }));
        expect([SECRET, 'INSERT INTO', 'ALTER USER'].filter((secret) => told.includes(secret))).toEqual([]);
      });

      it('several statements in one are rejected, and none is done', async () => {
        next += 1;
        const both = await failureOf(change(`INSERT INTO ${table} (id) VALUES (${next}); SELECT 1`));
        expect(both.failure).toBe('rejected');
        expect(await select(`SELECT id FROM ${table} WHERE id = ?`, next)).toEqual([]);
      });

      it('a statement that takes too long is unclear, and its caller goes on', async () => {
        expectLate(await failureOf(under.hasty.select(sql('SELECT SLEEP(10)'), 'writer')));
        expect(await client.select(sql('SELECT 7'), 'writer')).toHaveLength(1);
      });

      it('a port without a listener is unreachable: nothing was done', async () => {
        expect(await failureOf(under.nowhere.change(sql('SELECT 1')))).toMatchObject({ failure: 'unreachable' });
      });

      it('two that wait for each other: one is rolled back and may be repeated', async () => {
        next += 2;
        const [one, other] = [next, next + 1];
        next += 2;
        await insert(one, 'whole', 0);
        await insert(other, 'whole', 0);
        // Both rows in opposite orders; the sleeps let them meet.
        const both = `UPDATE ${table} SET whole = whole + SLEEP(0.3) WHERE id IN (?, ?) ORDER BY id`;
        const orders = ['ASC', 'DESC', 'ASC', 'DESC'];
        const ends = await Promise.allSettled(orders.map((order) => change(`${both} ${order}`, one, other)));
        const failures = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as SqlError).failure] : []));
        expect(failures.length).toBeGreaterThan(0);
        expect(new Set(failures)).toEqual(new Set(['contention']));
      });
    });

    describe('transactions', () => {
      const inserted = (id: number, note: string | null = null): Statement =>
        sql(`INSERT INTO ${table} (id, note) SELECT LAST_INSERT_ID(?), ?`, id, note);
      const thoseThere = async (): Promise<readonly number[]> =>
        (await select(`SELECT id FROM ${table} WHERE id IN (?, ?, ?) ORDER BY id`, ...ids)).map(([id]) => Number(id));
      const run = (statements: readonly Statement[]) =>
        client.transactions?.run(statements) ?? Promise.reject(new Error('wanted transactions'));
      let ids: [number, number, number];

      beforeEach(({ skip }) => {
        skip(!client.transactions, `${name} has none`);
        next += 3;
        ids = [next - 2, next - 1, next];
      });

      it('tell of each statement what it did, in their order', async () => {
        const nothing = sql(`DELETE FROM ${table} WHERE id = ?`, 999_999);
        expect(await run([inserted(ids[2], EVIL), nothing, inserted(ids[0])])).toEqual([
          { affectedRows: 1, insertId: ids[2] },
          { affectedRows: 0, insertId: 0 },
          { affectedRows: 1, insertId: ids[0] },
        ]);
        expect(await thoseThere()).toEqual([ids[0], ids[2]]);
        expect((await select(`SELECT note FROM ${table} WHERE id = ?`, ids[2]))[0]).toEqual([EVIL]);
      });

      it('apply all of their statements or none, name the one that was refused, and leave no lock behind', async () => {
        await insert(ids[1], 'note', '');
        const refused = { failure: 'duplicate', errno: 1062, position: 1 };
        await expect(run(ids.map((id) => inserted(id)))).rejects.toMatchObject(refused);
        // A lock would be waited for until the statement fails, after a second.
        await insert(ids[0], 'note', 'after it');
        const nowhere = sql('INSERT INTO not_there_at_all.t VALUES (1)');
        const rejected = { failure: 'rejected' };
        await expect(run([nowhere, inserted(ids[2])])).rejects.toMatchObject({ ...rejected, position: 0 });
        await expect(run([inserted(ids[2]), sql('SELEC 1')])).rejects.toMatchObject({ ...rejected, errno: 1064 });
        expect(await thoseThere()).toEqual([ids[0], ids[1]]);
        expect(await run([inserted(ids[2])])).toEqual([{ affectedRows: 1, insertId: ids[2] }]);
      });

      it('see what they did themselves, and others see it when all of it is done', async () => {
        const twice = sql(`UPDATE ${table} SET whole = COALESCE(whole, 0) + 1 WHERE id = ?`, ids[0]);
        const slow = sql(`UPDATE ${table} SET flag = SLEEP(0.5) WHERE id = ?`, ids[0]);
        const over = new AbortController();
        const done = run([inserted(ids[0]), twice, twice, slow]).finally(() => over.abort());
        const seen = `SELECT CAST(whole AS CHAR), flag IS NULL FROM ${table} WHERE id = ?`;
        while (!over.signal.aborted)
          expect(['', '2,0']).toContain((await select(seen, ids[0])).map((row) => row.map(String).join()).join());
        await done;
        expect((await select(`SELECT whole FROM ${table} WHERE id = ?`, ids[0]))[0]).toEqual(['2']);
      });

      it('wait at most a second for a locked row, and do not block each other in parallel', async () => {
        await insert(ids[0], 'note', '');
        const holder = await connectionTo();
        try {
          await holder.query('START TRANSACTION');
          await holder.query(`SELECT id FROM ${table} WHERE id = ? FOR UPDATE`, [ids[0]]);
          await expect(
            run([inserted(ids[1]), sql(`UPDATE ${table} SET flag = 1 WHERE id = ?`, ids[0])]),
          ).rejects.toMatchObject({ failure: 'contention', errno: 1205, position: 1 });
        } finally {
          await holder.end();
        }
        const first = next + 1;
        next += 60;
        const changes = await Promise.all(
          Array.from({ length: 30 }, (_, position) =>
            run([inserted(first + 2 * position), inserted(first + 2 * position + 1)]),
          ),
        );
        expect(changes.flat().map(({ insertId }) => insertId)).toEqual(
          Array.from({ length: 60 }, (_, position) => first + position),
        );
      });

      it('bring what is to be read behind them, once they are committed; of a lone statement, too', async () => {
        const reading = (statement: Statement, of: number): Statement => ({
          ...statement,
          readAfter: [{ branches: 1, from: (item) => sql(`SELECT ${item}, id, note FROM ${table} WHERE id = ?`, of) }],
        });
        expect(
          await run([reading(inserted(ids[0], EVIL), ids[1]), inserted(ids[1]), reading(inserted(ids[2]), 0)]),
        ).toEqual([
          { affectedRows: 1, insertId: ids[0], rows: [[[expect.anything(), String(ids[1]), null]]] },
          { affectedRows: 1, insertId: ids[1] },
          { affectedRows: 1, insertId: ids[2], rows: [[]] },
        ]);
        next += 1;
        expect(await run([reading(inserted(next, EVIL), next)])).toEqual([
          { affectedRows: 1, insertId: next, rows: [[[expect.anything(), String(next), EVIL]]] },
        ]);
      });

      it('tell what they changed, where what is to be read behind them is refused, or takes too long', async () => {
        const behind = (id: number, text: string): Statement => ({
          ...inserted(id),
          readAfter: [{ branches: 1, from: () => sql(text) }],
        });
        const [first, second, third] = ids.map((insertId) => ({ affectedRows: 1, insertId }));
        const refused = behind(ids[0], 'SELECT 1 FROM not_there_at_all.t');
        expect(await run([refused, inserted(ids[1])])).toEqual([first, second]);
        expect(await under.hasty.transactions?.run([behind(ids[2], 'SELECT SLEEP(10)')])).toEqual([third]);
        expect(await thoseThere()).toEqual(ids);
        await expect(run([behind(ids[2], 'SELECT 1')])).rejects.toMatchObject({ failure: 'duplicate', position: 0 });
      });

      it('that take too long are unclear', async () => {
        await insert(ids[0], 'note', '');
        const late = sql(`UPDATE ${table} SET flag = SLEEP(6) WHERE id = ?`, ids[0]);
        expectLate(await failureOf(under.hasty.transactions?.run([late])));
        const unreachable = await failureOf(under.nowhere.transactions?.run([inserted(ids[1])]));
        expect(unreachable).toMatchObject({ failure: 'unreachable' });
      });
    });

    describe('abilities', () => {
      it('a statement for a reader is answered by one, or by the writer where only that can be asked', async ({
        skip,
      }) => {
        const [[server] = []] = await client.select(sql('SELECT @@server_id'), 'reader');
        const [[writer] = []] = await client.select(sql('SELECT @@server_id'), 'writer');
        if (client.abilities.readsFromReaders) expect(server).not.toBe(writer);
        else expect(server).toBe(writer);
        skip(!client.abilities.readsFromReaders, `${name} has the writer only`);
      });

      it('each node can be asked by its number', async ({ skip }) => {
        skip(client.nodes < 2, `${name} has the writer only`);
        const ids = Array.from({ length: client.nodes }, async (_, node) =>
          String((await client.select(sql('SELECT @@server_id'), { node }))[0]?.[0]),
        );
        expect(new Set(await Promise.all(ids)).size).toBe(client.nodes);
      });
    });
  });
}

async function failureOf(promise: Promise<unknown> | undefined): Promise<SqlError> {
  const error = await promise?.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if ((error as SqlError).name !== 'SqlError') throw new Error(`wanted a SqlError, got ${String(error)}`);
  return error as SqlError;
}

/** A limit that passes while this process stands still is told as a pause: no evidence against the server. */
function expectLate({ failure, timedOut, wasPaused }: SqlError): void {
  expect([failure, timedOut !== wasPaused]).toEqual(['unclear', true]);
}
