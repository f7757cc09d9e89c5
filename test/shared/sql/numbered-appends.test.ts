import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EncodedCell } from '../../../shared/sql/encoded-cell.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { SqlError, type SqlChange, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { batchingClient } from '../../../shared/sql/batching-client.ts';
import {
  appendCell,
  appendCells,
  appendRestored,
  type ShardFence,
} from '../../../shared/sql/statements/append-cells.ts';
import { numberCells } from '../../../shared/sql/statements/number-cells.ts';
import { numberedAppend } from '../../../shared/sql/statements/numbered-append.ts';
import { renumber } from '../../../shared/sql/statements/renumber.ts';
import { clientTo, groupAccess, sharedClient, sharedConnection } from '../../support/connection-to.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { rowsRead } from '../../support/rows-read.ts';
import { until } from '../../support/until.ts';
import { transactionsOf, withTransactions } from '../../support/wrapped-client.ts';

const SHARDS = 24;
const { name: datastore, groupOf, entity, rowIn } = await sharedTrips(SHARDS);
const group = groupOf(0);
const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => groupOf(shard) === group);
const [one = -1, two = -1, three = -1] = shards;
const direct = sharedClient(groupAccess(group));
const connection = await sharedConnection(group);

let sent: string[][];
let client: SqlClient;

const { run } = transactionsOf(direct);
const watched = withTransactions(
  direct,
  (statements) => (sent.push(statements.map(({ sql }) => sql)), run(statements)),
);

beforeEach(() => {
  sent = [];
  client = batchingClient(watched);
});

const isNumbering = (sql: string): boolean => sql.includes('SET head_at = GREATEST');
const newCell = (shard: number, row_key = rowIn(shard)): EncodedCell => {
  const cell = cellOf({ row_key });
  return { ...cell, encoded: encodeBody(cell.body) };
};
const fenceOf = (shard: number): ShardFence => ({ datastore, shard, epoch: 1 });
const appendTo = (shard: number, cell = newCell(shard)): Statement => appendCell(fenceOf(shard), cell);
const all = (statements: readonly Statement[]): Promise<SqlChange[]> =>
  Promise.all(statements.map((statement) => client.change(statement)));

async function idsIn(shard: number): Promise<number[]> {
  const rows = await select(direct, `SELECT added_id FROM ${entity(shard)} ORDER BY added_id`);
  return rows.map(([id]) => Number(id));
}
async function lastIn(shard: number): Promise<number> {
  return (await idsIn(shard)).at(-1) ?? 0;
}
async function isWhole(shard: number): Promise<boolean> {
  return (await idsIn(shard)).every((id, position) => id === position + 1);
}
async function endOf(shard: number): Promise<readonly unknown[]> {
  const [row = []] = await select(
    direct,
    'SELECT head, head_epoch FROM schemaless.shard WHERE datastore = ? AND shard = ?',
    datastore,
    shard,
  );
  return row.map(Number);
}
const setRow = (shard: number, assignment: string) =>
  change(direct, `UPDATE schemaless.shard SET ${assignment} WHERE datastore = ? AND shard = ?`, datastore, shard);

describe('appends that are committed together', () => {
  it('get their numbers by one statement, those of a lone one too', async () => {
    for (let time = 0; time < 2; time += 1) {
      const before = await Promise.all(shards.map(lastIn));
      sent = [];
      const changes = await all(shards.map((shard) => appendTo(shard)));
      expect(changes.map(({ affectedRows, insertId }) => [affectedRows, insertId])).toEqual(
        before.map((last) => [1, last + 1]),
      );
      expect(sent.map((texts) => texts.filter(isNumbering).length)).toEqual(sent.map(() => 1));
      expect(sent.map((texts) => texts.length)).toEqual(time === 0 ? [2, shards.length] : [shards.length + 1]);
    }
    expect(await Promise.all(shards.map(isWhole))).toEqual(shards.map(() => true));
  });

  it('are of several cells of a shard, too, which follow each other', async () => {
    const last = await lastIn(one);
    const several = appendCells(
      fenceOf(one),
      [1, 2, 3].map(() => newCell(one)),
    );
    const [, first] = await all([appendTo(two), several, appendTo(three)]);
    expect(first).toMatchObject({ affectedRows: 3, insertId: last + 3 });
    expect(sent[1]?.filter(isNumbering)).toHaveLength(1);
    expect(await endOf(one)).toEqual([last + 3, 1]);
    expect(await isWhole(one)).toBe(true);
  });

  it('are one of a shard where several callers append to it, and each is told which cells are its own', async () => {
    const last = await lastIn(one);
    const pair = appendCells(fenceOf(one), [newCell(one), newCell(one)]);
    const [, ...ofOne] = await all([appendTo(two), appendTo(one), pair, appendTo(one)]);
    const told = { affectedRows: 4, insertId: last + 4 };
    expect(ofOne).toEqual([0, 1, 3].map((at) => ({ ...told, among: { cells: 4, at } })));
    // The first goes alone, at once.
    expect(sent.map((texts) => texts.length)).toEqual([2, 2]);
    expect([await endOf(one), await isWhole(one)]).toEqual([[last + 4, 1], true]);
  });

  it('are of different addresses, and of a hundred cells at most: the others come with the next transaction', async () => {
    const cell = newCell(one);
    const some = (count: number) => Array.from({ length: count }, () => newCell(one));
    const [, first, again, many, more] = await all([
      appendTo(two),
      appendTo(one, cell),
      appendTo(one, cell),
      appendCells(fenceOf(one), some(60)),
      appendCells(fenceOf(one), some(40)),
    ]);
    expect([first, again, many, more].map((change) => [change?.affectedRows, change?.among?.cells])).toEqual([
      [61, 61],
      [40, 41],
      [61, 61],
      [40, 41],
    ]);
    expect(await isWhole(one)).toBe(true);
  });

  it('are not numbered for a second after three transactions were refused, and leave the others theirs', async () => {
    const cell = newCell(two);
    await client.change(appendTo(two, cell));
    sent = [];
    for (let time = 0; time < 5; time += 1) await all([appendTo(three), appendTo(one), appendTo(two, cell)]);
    const numbered = sent.filter((texts) => texts.some(isNumbering));
    expect(numbered.length).toBeLessThan(sent.length - numbered.length);
    const another = batchingClient(watched);
    sent = [];
    const last = await lastIn(one);
    expect(await another.change(appendTo(one))).toMatchObject({ insertId: last + 1 });
    expect(sent.map((texts) => texts.length)).toEqual([2, 3]);
    expect(await isWhole(one)).toBe(true);
  });

  it('are numbered on next to inserts of what is there already, which are no refusals of theirs', async () => {
    // Each has a table of its own: one of which a statement failed goes by itself from then on.
    const entries = Array.from({ length: 5 }, (_, number): Statement => {
      const table = `schemaless.${datastore}_there_${number}`;
      return { sql: `INSERT INTO ${table} VALUES (1)`, parameters: [], table, mayShareCommit: true };
    });
    for (const { table = '', sql } of entries) {
      await change(direct, `CREATE TABLE ${table} (id INT NOT NULL PRIMARY KEY)`);
      await change(direct, sql);
    }
    const last = await lastIn(one);
    for (const entry of entries) {
      const [, , twice] = await Promise.allSettled(
        [appendTo(three), appendTo(one), entry].map((statement) => client.change(statement)),
      );
      expect(twice).toMatchObject({ reason: { failure: 'duplicate' } });
    }
    sent = [];
    await all([appendTo(three), appendTo(one)]);
    expect(sent.some((texts) => texts.some(isNumbering))).toBe(true);
    expect([await lastIn(one), await isWhole(one)]).toEqual([last + entries.length + 1, true]);
    for (const { table = '' } of entries) await change(direct, `DROP TABLE ${table}`);
  });

  it('go on behind a large cell, which goes by itself, without a refusal', async () => {
    await client.change(appendTo(one));
    const cell = cellOf({ row_key: rowIn(one), body: randomBytes(400_000).toString('base64') });
    await client.change(appendTo(one, { ...cell, encoded: encodeBody(cell.body) }));
    await until('its end is not known', async () => (await endOf(one))[1] === 0, { pollMs: 5 });
    sent = [];
    const last = await lastIn(one);
    expect((await all([appendTo(three), appendTo(one), appendTo(two)]))[1]).toMatchObject({ insertId: last + 1 });
    expect(await endOf(one)).toEqual([last + 1, 1]);
  });

  it('meet those of restored cells in no circle', async () => {
    let circles = 0;
    const counting = (through: SqlClient): SqlClient =>
      withTransactions(through, (statements) =>
        transactionsOf(through)
          .run(statements)
          .catch((error: unknown) => {
            if (error instanceof SqlError && error.errno === 1213) circles += 1;
            throw error;
          }),
      );
    const writers = [1, 2].map(() => batchingClient(counting(clientTo(groupAccess(group)))));
    const restored = (shard: number): Statement =>
      appendRestored(fenceOf(shard), [{ ...newCell(shard), stored_at: '2026-01-01T00:00:00.000000Z' }]);
    await Promise.all(
      writers.flatMap((writer) =>
        Array.from({ length: 12 }, async (_, number) => {
          for (let round = 0; round < 30; round += 1) {
            const shard = shards[Math.floor(Math.random() * shards.length)] ?? one;
            await writer.change(number % 2 === 0 ? restored(shard) : appendTo(shard));
          }
        }),
      ),
    );
    await Promise.all(writers.map((writer) => writer.close()));
    expect(circles).toBe(0);
    expect(await Promise.all(shards.map(isWhole))).toEqual(shards.map(() => true));
  });

  it.each([
    ['was opened', "state = 'moving'", "state = 'open'"],
    ['was found', 'head_epoch = NULL', 'head_epoch = epoch'],
  ])('take no place in an empty log that %s since they were numbered, at READ COMMITTED', async (_, off, on) => {
    const empty = shards.at(-1) ?? -1;
    await change(direct, `DELETE FROM ${entity(empty)}`);
    await setRow(empty, `head = 0, head_epoch = epoch, ${off}`);
    const cells = [newCell(empty)];
    const [numbers] = numberCells([{ ...fenceOf(empty), cells }]);
    const numbered = numberedAppend(fenceOf(empty), cells);
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    try {
      await connection.query('START TRANSACTION');
      await connection.query(numbers?.sql ?? '', [...(numbers?.parameters ?? [])]);
      await setRow(empty, on);
      await connection.query(numbered.sql, [...numbered.parameters]);
      await connection.query('COMMIT');
    } finally {
      await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    }
    expect(await idsIn(empty)).toEqual([]);
    expect(await client.change(appendTo(empty))).toMatchObject({ insertId: 1 });
  });

  it('have times that never go back, whatever the clock says', async () => {
    await client.change(appendTo(one));
    await setRow(one, "head_at = '2040-01-01 00:00:00.000000'");
    await client.change(appendTo(one));
    const [[time] = []] = await select(direct, `SELECT created_at FROM ${entity(one)} ORDER BY added_id DESC LIMIT 1`);
    expect(String(time)).toBe('2040-01-01 00:00:00.000000');
    await change(direct, `UPDATE ${entity(one)} SET created_at = SYSDATE(6) ORDER BY added_id DESC LIMIT 1`);
    await setRow(one, 'head_epoch = NULL');
  });

  it('leave out a cell that exists, at no cost to the others', async () => {
    const cell = newCell(two);
    await client.change(appendTo(two, cell));
    const before = await Promise.all(shards.map(lastIn));
    const changes = await all([
      appendTo(three),
      ...shards.map((shard) => appendTo(shard, shard === two ? cell : newCell(shard))),
    ]);
    expect(changes.slice(1).map(({ affectedRows }) => affectedRows)).toEqual(
      shards.map((shard) => Number(shard !== two)),
    );
    const added = (shard: number): number => Number(shard !== two) + Number(shard === three);
    expect(await Promise.all(shards.map(lastIn))).toEqual(
      before.map((last, position) => last + added(shards[position] ?? -1)),
    );
    expect(await Promise.all(shards.map(isWhole))).toEqual(shards.map(() => true));
    expect(await endOf(one)).toEqual([await lastIn(one), 1]);
  });

  it('continue at the end of the log, also after an unnumbered append', async () => {
    await client.change(appendTo(one));
    await direct.change(appendTo(one));
    const last = await lastIn(one);
    sent = [];
    expect(await client.change(appendTo(one))).toMatchObject({ affectedRows: 1, insertId: last + 1 });
    expect(sent).toHaveLength(2);
    expect(await client.change(appendTo(one))).toMatchObject({ affectedRows: 1, insertId: last + 2 });
    expect(sent).toHaveLength(3);
    expect(await isWhole(one)).toBe(true);
  });

  it('find the end of a log of which it is not known, or of another epoch', async () => {
    for (const unknown of ['head_epoch = NULL', 'head_epoch = 2, head = 1000']) {
      await setRow(one, unknown);
      const [last, other] = [await lastIn(one), await lastIn(two)];
      const changes = await all([appendTo(three), appendTo(one), appendTo(two)]);
      expect(changes.slice(1).map(({ insertId }) => insertId)).toEqual([last + 1, other + 1]);
      expect(await endOf(one)).toEqual([last + 1, 1]);
    }
  });

  it.each([
    ['that is closed', "state = 'moving'", "state = 'open'"],
    ['of another epoch', 'epoch = 2', 'epoch = 1'],
    ['whose writer may lack cells', 'writer_id = 0', 'writer_id = NULL'],
    ['of which something was erased', 'has_erasures = 1', 'has_erasures = 0'],
  ])('number and store nothing of a shard %s', async (_, off, on) => {
    await client.change(appendTo(one));
    const [last, end] = [await lastIn(one), await endOf(one)];
    await setRow(one, off);
    const [, changed, other] = await all([appendTo(three), appendTo(one), appendTo(two)]);
    expect([changed?.affectedRows, other?.affectedRows]).toEqual([0, 1]);
    await setRow(one, on);
    expect([await lastIn(one), (await endOf(one))[0]]).toEqual([last, end[0]]);
    expect(await client.change(appendTo(one))).toMatchObject({ affectedRows: 1, insertId: last + 1 });
  });

  it('do not wait for another shard that is locked', async () => {
    await connection.query('START TRANSACTION');
    await connection.query('SELECT 1 FROM schemaless.shard WHERE datastore = ? AND shard = ? FOR UPDATE', [
      datastore,
      one,
    ]);
    const others = shards.filter((shard) => shard !== one);
    try {
      await all([appendTo(three), ...others.map((shard) => appendTo(shard))]);
    } finally {
      await connection.query('ROLLBACK');
    }
    expect(sent.map((texts) => texts.filter(isNumbering).length)).toEqual([1, 1]);
  });
});

it('read a row or two for each shard, however long its log is', async () => {
  const numbered = (shard: number) => ({ ...fenceOf(shard), cells: [newCell(shard)] });
  const [numbers] = numberCells(shards.map(numbered));
  expect(await rowsRead(connection, numbers as Statement)).toBeLessThanOrEqual(2 * shards.length + 2);
  await connection.query('UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = ?', [datastore]);
  expect(await rowsRead(connection, renumber(fenceOf(one)))).toBeLessThanOrEqual(6);
  const [next] = numberCells([numbered(one)]);
  await connection.query((next as Statement).sql, [...(next as Statement).parameters]);
  expect(await rowsRead(connection, numberedAppend(fenceOf(one), [newCell(one)]))).toBeLessThanOrEqual(4);
});
