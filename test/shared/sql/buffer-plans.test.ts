import { createConnection, type Connection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Statement } from '../../../shared/sql/client.ts';
import { insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import { selectBuffered, selectKept } from '../../../shared/sql/statements/select-buffered.ts';
import { selectCopies, selectUnanswered } from '../../../shared/sql/statements/select-unanswered.ts';
import { selectBufferStatus } from '../../../shared/sql/statements/select-buffer-status.ts';
import { selectUndecidedShards } from '../../../shared/sql/statements/select-undecided-shards.ts';
import { selectWaitingShards } from '../../../shared/sql/statements/select-waiting-shards.ts';
import { selectWaiting } from '../../../shared/sql/statements/select-waiting.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { rowsRead } from '../../support/rows-read.ts';

/**
 * How many rows the statements over a buffer table read, by the server's own counters, where thousands wait for other
 * shards.
 */
const SHARDS = 8;
const ROWS = 4000;
const A_SHARD = ROWS / SHARDS;

let store: RealStore;
let connection: Connection;
let datastore: string;
let ids: number[];
const addresses: BufferedCell[] = [];

beforeAll(async () => {
  store = await openRealStore({ datastores: { plans: SHARDS } });
  datastore = store.nameOf('plans');
  const [group] = inject('servers').groups;
  if (!group) throw new Error('no group');
  connection = await createConnection({
    ...group.writer,
    user: group.user,
    password: group.password,
    supportBigNumbers: true,
  });
  const encoded = encodeBody('body');
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const cells = rowsOfShard(shard, SHARDS, A_SHARD).map((row_key): BufferedCell => ({
      ...cellOf({ row_key }),
      encoded,
      shard,
    }));
    addresses.push(...cells.slice(0, 10));
    await store.client(group.name).change(insertBuffered(datastore, cells));
  }
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
  await connection.query('DELETE FROM schemaless.buffer WHERE datastore = ?', [datastore]);
  await connection.end();
  await store.close();
});

describe('rows read of a buffer table', () => {
  const place = (shard: number, after = 0) => ({ datastore, shard, after });
  /** Rows of other test files wait in the same table. */
  async function count(what: string): Promise<number> {
    const [rows] = await connection.query(`SELECT COUNT(${what}) AS counted FROM schemaless.buffer`);
    return Number((rows as { readonly counted: number }[])[0]?.counted);
  }

  it.each<[string, () => Statement, number | (() => Promise<number>)]>([
    ['the next 25 rows of one shard', () => selectWaiting([place(1, ids[200])], 1e9, 25), 2 * 25 + 5],
    [
      'the next 6 rows of 4 shards',
      () =>
        selectWaiting(
          [0, 1, 2, 3].map((shard) => place(shard)),
          1e9,
          6,
        ),
      4 * (2 * 6 + 5),
    ],
    ['20 bodies by id', () => selectBuffered(ids.slice(0, 20), 1e6), 20 * 12],
    [
      'a page of one shard, of which all may have been acknowledged',
      () => selectUnanswered(datastore, 1, ids[100] ?? 0, 50),
      10 * 50,
    ],
    ['the copies at 20 addresses', () => selectCopies(datastore, addresses.slice(0, 20)), 5 * 20],
    [
      'the shards that anything waits for, and how much',
      () => selectWaitingShards(200),
      async () => 5 * 200 + 20 * (await count('DISTINCT state, datastore, shard')),
    ],
    ['what waits in all of one datastore', () => selectBufferStatus(datastore), 3 * ROWS],
    ['the kept conflicts', () => selectKept('conflict', datastore, 0, 10, 1e6), 50 * 3 + 10 * 14],
    [
      'whether anything is undecided',
      () => selectUndecidedShards(),
      async () => 10 + 2 * (await count("IF(state = 'undecided', 1, NULL)")),
    ],
  ])('for %s are few', async (_what, statement, most) => {
    const bound = typeof most === 'number' ? most : await most();
    expect(await rowsRead(connection, statement())).toBeLessThanOrEqual(bound);
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
