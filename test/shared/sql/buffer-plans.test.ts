import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import type { Statement } from '../../../shared/sql/client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import {
  answerBuffered,
  deleteBuffered,
  discardConflicts,
  markConflicts,
  markShown,
  noteRefusal,
  deleteWithdrawn,
  withdrawBuffered,
} from '../../../shared/sql/statements/change-buffered.ts';
import { keysOf } from '../../../shared/sql/statements/copy-key.ts';
import { selectBuffered, selectKept } from '../../../shared/sql/statements/select-buffered.ts';
import { selectLastDrained } from '../../../shared/sql/statements/drained-copies.ts';
import { selectCopies, selectCopiesOf } from '../../../shared/sql/statements/select-unanswered.ts';
import { selectBufferStatus } from '../../../shared/sql/statements/select-buffer-status.ts';
import { selectShardsInDoubt, markInDoubt, releaseInDoubt } from '../../../shared/sql/statements/copies-in-doubt.ts';
import { selectWaitingShards, selectWaiting } from '../../../shared/sql/statements/select-waiting.ts';
import { writeHealthCheck } from '../../../shared/sql/statements/write-health-check.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { rowsRead, rowsReadOnceOpen, rowsReadWithoutStatistics, whileRebuilt } from '../../support/rows-read.ts';
import { connectionTo, sharedConnection } from '../../support/connection-to.ts';
import { copyOf } from '../../support/copy-of.ts';
import { sharedTrips } from '../../support/open-trips.ts';

/**
 * How many rows the statements over a buffer table read, by the server's own counters, where thousands wait for other
 * shards.
 */
const SHARDS = 8;
const ROWS = 4000;
const A_SHARD = ROWS / SHARDS;

const { store, name: datastore } = await sharedTrips(SHARDS);
const connection = await sharedConnection();
let ids: number[];
const addresses: BufferedCell[] = [];

beforeAll(async () => {
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const cells = rowsOfShard(shard, SHARDS, A_SHARD).map((row_key) => copyOf(cellOf({ row_key }), shard));
    addresses.push(...cells.slice(0, 130));
    await store.client(store.groups[0]?.name ?? '').change(insertBuffered(datastore, cells));
  }
  const kept = 'datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at';
  await connection.query(
    `INSERT INTO schemaless.drained (${kept}) SELECT ${kept} FROM schemaless.buffer WHERE datastore = ? ORDER BY id`,
    [datastore],
  );
  await connection.query('ANALYZE TABLE schemaless.drained');
  await connection.query("UPDATE schemaless.buffer SET state = 'conflict' WHERE datastore = ? AND shard = 7 LIMIT 50", [
    datastore,
  ]);
  await connection.query('ANALYZE TABLE schemaless.buffer');
  const [rows] = await connection.query<never>(
    'SELECT id FROM schemaless.buffer WHERE datastore = ? AND shard = 1 ORDER BY id',
    [datastore],
  );
  ids = (rows as { readonly id: number }[]).map(({ id }) => Number(id));
});

afterAll(async () => {
  for (const table of ['buffer', 'drained'])
    await connection.query(`DELETE FROM schemaless.${table} WHERE datastore = ?`, [datastore]);
});

describe('rows read of a buffer table', () => {
  const from = (shard: number, after = 0) => ({ datastore, shard, after });
  const firstOf = (shards: readonly number[]) => () =>
    selectWaiting(
      shards.map((shard) => from(shard)),
      1e9,
      6,
    );
  /** Rows of other test files wait in the same table. */
  async function count(what: string): Promise<number> {
    const [rows] = await connection.query(`SELECT COUNT(${what}) AS counted FROM schemaless.buffer`);
    return Number((rows as { readonly counted: number }[])[0]?.counted);
  }
  const unanswered = () => selectCopiesOf('unanswered', { ...from(1, ids[100]), limit: 50 });
  const copies = (kind: Parameters<typeof selectCopies>[0]) => () =>
    selectCopies(kind, datastore, addresses.slice(0, 20));
  const inDoubt = async () => 10 + 2 * (await count("IF(state = 'in_doubt', 1, NULL)"));
  const shardsWaiting = async () => 5 * 200 + 20 * (await count('DISTINCT state, datastore, shard'));

  const PAGES: readonly (readonly [what: string, statement: () => Statement, most: number])[] = [
    ['the next 6 rows of 4 shards', firstOf([0, 1, 2, 3]), 4 * (2 * 6 + 5)],
    ['a page of one shard, of which all may have been acknowledged', unanswered, 10 * 50],
    ['a page of one shard of what was drained', () => selectCopiesOf('drained', { ...from(1), limit: 50 }), 4 * 50],
    // Includes the server's own reads when it reopens a table.
    ['20 bodies by id', () => selectBuffered(ids.slice(0, 20), 1e6), 20 * 14],
    ['the kept conflicts', () => selectKept('conflict', datastore, 0, 10, 1e6), 50 * 3 + 10 * 14],
  ];

  it.each<readonly [string, () => Statement, number | (() => Promise<number>)]>([
    ...PAGES,
    ['the next 25 rows of one shard', () => selectWaiting([from(1, ids[200])], 1e9, 25), 2 * 25 + 5],
    ['the copies at 20 addresses', copies('unanswered'), 5 * 20],
    ['the drained copies at 20 addresses', copies('drained'), 5 * 20],
    ['the last that was drained', () => selectLastDrained(), 3],
    ['the shards that anything waits for, and how much', () => selectWaitingShards(200), shardsWaiting],
    ['what waits in all of one datastore', () => selectBufferStatus(datastore), 3 * ROWS],
    ['whether anything is in doubt', () => selectShardsInDoubt(), inDoubt],
  ])('for %s are few', async (_what, statement, most) => {
    const bound = typeof most === 'number' ? most : await most();
    expect(await rowsReadOnceOpen(connection, statement())).toBeLessThanOrEqual(bound);
  });

  it.each(PAGES)('for %s are few while their tables are rebuilt', async (_what, statement, most) => {
    const tables = ['schemaless.buffer', 'schemaless.drained'];
    const read = await whileRebuilt(await connectionTo(), tables, () => rowsRead(connection, statement()));
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((rows) => rows > most)).toEqual([]);
  });

  /** Rolls back: each statement finds the same rows. A reset of the counters ends a transaction, but begins none. */
  async function readByChange(statement: Statement): Promise<number> {
    await connection.query('SET SESSION autocommit = 0');
    try {
      return await rowsRead(connection, statement);
    } finally {
      await connection.query('ROLLBACK');
      await connection.query('SET SESSION autocommit = 1');
    }
  }

  const CHANGES: readonly (readonly [what: string, of: (cells: readonly BufferedCell[]) => Statement])[] = [
    ['deleted once they are drained', (cells) => deleteBuffered(keysOf(datastore, cells))],
    ['marked before they are appended', (cells) => markShown(keysOf(datastore, cells))],
    ['marked as lost', (cells) => markConflicts(keysOf(datastore, cells))],
    ['told why they were refused', (cells) => noteRefusal(keysOf(datastore, cells), 'no room')],
    ['withdrawn', (cells) => withdrawBuffered(datastore, cells)],
    ['deleted once no write relies on them', (cells) => deleteWithdrawn(datastore, cells)],
    ['marked as in doubt', (cells) => markInDoubt(keysOf(datastore, cells))],
    ['answered', (cells) => answerBuffered(datastore, cells)],
    ['released', () => releaseInDoubt(datastore, [{ shard: 1 }])],
    ['discarded', (cells) => discardConflicts(datastore, ids.slice(0, cells.length))],
  ];

  it.each(CHANGES)('that are %s are few', async (_what, of) => {
    const read: [count: number, rows: number][] = [];
    // No statement of the store names more: over 200, MySQL may read the whole table, because it then uses statistics.
    for (const count of [1, 2, 50, 100]) read.push([count, await readByChange(of(addresses.slice(0, count)))]);
    // The first access to a table also reads some of the server's own rows on it; a scan reads thousands.
    expect(read.filter(([count, rows]) => rows > 4 * count + 200)).toEqual([]);
  });

  it('by a health check that writes are its own', async () => {
    // The first one opens the table, for which the server reads of its own.
    await readByChange(writeHealthCheck());
    expect(await readByChange(writeHealthCheck())).toBeLessThanOrEqual(2);
  });

  it('that are deleted are few while their table is rebuilt', async () => {
    const statement = deleteBuffered(keysOf(datastore, addresses.slice(0, 100)));
    const read = await whileRebuilt(await connectionTo(), ['schemaless.buffer'], () => readByChange(statement));
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((rows) => rows > 4 * 100)).toEqual([]);
  });

  it('are few by the statistics of an empty table, too', async () => {
    const tables = ['buffer', 'drained'].map((table) => ['schemaless', table] as const);
    const read: [what: string, rows: number, most: number][] = [];
    for (const [what, statement, most] of PAGES)
      read.push([what, await rowsReadWithoutStatistics(connection, tables, statement), most]);
    for (const [what, of] of CHANGES)
      for (const count of [2, 50, 100]) {
        const change = (): Statement => of(addresses.slice(0, count));
        const rows = await rowsReadWithoutStatistics(connection, tables, change, readByChange);
        read.push([`${count} ${what}`, rows, 4 * count + 200]);
      }
    expect(read.filter(([, rows, most]) => rows > most)).toEqual([]);
  });

  it('are many where a statement scans: the measure itself can fail', async () => {
    expect(
      await rowsRead(connection, {
        sql: 'SELECT COUNT(created_at) FROM schemaless.buffer WHERE datastore = ?',
        parameters: [datastore],
      }),
    ).toBeGreaterThan(ROWS);
  });
});
