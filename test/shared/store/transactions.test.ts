import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../shared/address.ts';
import type { RowTransaction } from '../../../shared/cell.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { rowsOfShard } from '../../support/datastore-conformance.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { change } from '../../support/plain-sql.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 9;
const broken = faults();
/** Called before each statement that puts hints. */
let beforeHints: (() => Promise<unknown>) | undefined;
/** The column whose cells readers do not show yet. */
let late: string | undefined;
const hooked = (client: SqlClient): SqlClient => ({
  ...client,
  async change(statement) {
    if (statement.sql.startsWith('INSERT INTO `schemaless`.buffer')) await beforeHints?.();
    return client.change(statement);
  },
  async select(statement, target) {
    const rows = await client.select(statement, target);
    if (late === undefined || typeof target !== 'object' || target.node === 0) return rows;
    const column = Buffer.from(late);
    return rows.filter((row) => !row.some((value) => value instanceof Uint8Array && column.equals(value)));
  },
});
const opened = await sharedTrips(SHARDS, {
  wrap: (client, group) => hooked(broken.wrap(client, group)),
  indexes: SUITE_INDEXES.slice(0, 1),
});
const { store, trips, primary } = opened;

afterEach(() => {
  broken.behaviours.clear();
  beforeHints = undefined;
  late = undefined;
});

const orderOf = (change: Partial<RowTransaction> = {}): RowTransaction => ({
  row_key: rowsOfShard(0, SHARDS, 1)[0] as string,
  cells: [
    { column_name: 'ORDER', ref_key: 4, body: { state: 'paid', note: 'x'.repeat(300) } },
    { column_name: 'OUTBOX', ref_key: 17, body: 'paid' },
  ],
  ...change,
});

const shownAt = async (row_key: string): Promise<readonly string[]> =>
  (await trips.row(row_key)).cells.map(({ column_name, ref_key }) => `${column_name} ${ref_key}`);

async function drainAll(): Promise<void> {
  await expect
    .poll(async () => {
      for (const group of store.groups) await drainAtOnce(store.context, group.name);
      return (await buffered()).filter(({ row_key }) => row_key !== '');
    })
    .toEqual([]);
}

async function buffered(): Promise<readonly { readonly row_key: string; readonly rows: number }[]> {
  const { groups } = await trips.getBuffer();
  return groups.flatMap((group) =>
    'error' in group || group.rows === 0 ? [] : [{ row_key: group.group, rows: group.rows }],
  );
}

describe('a transaction', () => {
  it('takes a round trip to a secondary and one to the primary', async () => {
    await trips.transact(orderOf());
    broken.statements.length = 0;
    expect((await trips.transact(orderOf())).outcome).toBe('stored');
    const changes = broken.statements.filter(({ sql }) => /^(?:INSERT|UPDATE|DELETE)/.test(sql));
    expect(changes.map(({ sql }) => /^\w+(?: INTO)? (\S+)/.exec(sql)?.[1])).toEqual([
      '`schemaless`.buffer',
      expect.stringContaining('_0000`.`entity`'),
    ]);
  });

  it('is buffered as a whole while its primary is down, and drained as a whole', async () => {
    const order = orderOf();
    broken.behaviours.set(primary, 'down');
    expect(await trips.transact(order)).toEqual({ outcome: 'buffered', shard: 0, copies: 2 });
    broken.behaviours.clear();
    expect(await shownAt(order.row_key)).toEqual([]);
    await drainAll();
    expect(await shownAt(order.row_key)).toEqual(['ORDER 4', 'OUTBOX 17']);
    const { row_key } = order;
    const found = await trips.batchGet(
      order.cells.map(({ column_name, ref_key }) => ({ row_key, column_name, ref_key })),
    );
    const [one, other] = found.map((cell) => (cell && 'row_key' in cell ? cell : undefined));
    expect(other?.added_id).toBe((one?.added_id ?? 0) + 1);
    expect(other?.transaction).toEqual({ size: 2, position: 1 });
    expect((await trips.transact(order)).outcome).toBe('stored_before');
  });

  it('is kept as a conflict as a whole if another body came first, and is discarded as a whole', async () => {
    const order = orderOf();
    const { row_key } = order;
    broken.behaviours.set(primary, 'down');
    expect((await trips.transact(order)).outcome).toBe('buffered');
    broken.behaviours.clear();
    await trips.put({ row_key, column_name: 'OUTBOX', ref_key: 17, body: 'another' });
    for (const group of store.groups) await drainAtOnce(store.context, group.name);
    expect(await shownAt(row_key)).toEqual(['OUTBOX 17']);
    const { conflicts } = await trips.listBufferConflicts();
    const ours = conflicts.filter((one) => one.row_key === row_key);
    expect(new Set(ours.map(({ column_name, transaction }) => `${column_name} ${transaction?.position}`))).toEqual(
      new Set(['ORDER 0', 'OUTBOX 1']),
    );
    const [first] = ours;
    const group = first?.id.split('/')[0] ?? '';
    await trips.discardBufferConflicts({ ids: [first?.id ?? ''] });
    const left = (await trips.listBufferConflicts()).conflicts.filter((one) => one.row_key === row_key);
    expect(left.filter(({ id }) => id.startsWith(`${group}/`))).toEqual([]);
    await trips.discardBufferConflicts({ ids: left.map(({ id }) => id) });
  });

  it('with conditions is unavailable while its primary is down, and leaves no copies', async () => {
    const order = orderOf({ if: [{ column_name: 'ORDER', latest: null }] });
    await drainAll();
    broken.behaviours.set(primary, 'down');
    expect((await trips.transact(order)).outcome).toBe('unavailable');
    broken.behaviours.clear();
    expect(await buffered()).toEqual([]);
    expect((await trips.transact(order)).outcome).toBe('stored');
    await drainAll();
    expect((await trips.transact(order)).outcome).toBe('stored_before');
  });

  it.skipIf(WRITER_ONLY)('with conditions is unavailable if its primary loses it before its hints', async () => {
    const order = orderOf({ if: [{ column_name: 'ORDER', latest: null }] });
    await drainAll();
    const lost = `DELETE FROM ${opened.entity(0)} WHERE row_key = ?`;
    beforeHints = () => change(store.client(primary), lost, rowKeyBytes(order.row_key));
    expect((await trips.transact(order)).outcome).toBe('unavailable');
    beforeHints = undefined;
    await change(opened.clientOf(0), 'UPDATE schemaless.shard SET head_epoch = NULL');
    expect(await buffered()).toEqual([]);
  });

  it('whose answers are lost is stored once as a whole', async () => {
    const order = orderOf();
    broken.behaviours.set(primary, 'lost-answers');
    expect((await trips.transact(order)).outcome).toBe('buffered');
    broken.behaviours.clear();
    await drainAll();
    expect((await trips.transact(order)).outcome).toBe('stored_before');
  });

  it('is drained with the cells that were there before', async () => {
    const order = orderOf();
    const { row_key } = order;
    broken.behaviours.set(primary, 'down');
    expect((await trips.transact(order)).outcome).toBe('buffered');
    broken.behaviours.clear();
    const [cell] = order.cells as readonly [(typeof order.cells)[0]];
    expect((await trips.put({ row_key, ...cell })).outcome).toBe('stored');
    await drainAll();
    expect(await shownAt(row_key)).toEqual(['ORDER 4', 'OUTBOX 17']);
  });

  it.skipIf(WRITER_ONLY)('keeps all its hints until every reader shows all its cells', async () => {
    const order = orderOf();
    const { row_key, cells } = order;
    await trips.batchPut(cells.map((cell) => ({ row_key, ...cell })));
    await drainAll();
    late = 'AUDIT';
    const more = { column_name: 'AUDIT', ref_key: 0, body: 'paid' };
    expect((await trips.transact({ row_key, cells: [...cells, more] })).outcome).toBe('stored');
    for (const group of store.groups) await drainAtOnce(store.context, group.name);
    expect((await buffered()).map(({ rows }) => rows)).toEqual([3]);
    late = undefined;
    await drainAll();
  });

  it('is drained without the cells that were erased before', async () => {
    const order = orderOf();
    const { row_key } = order;
    broken.behaviours.set(primary, 'down');
    expect((await trips.transact(order)).outcome).toBe('buffered');
    broken.behaviours.clear();
    // As an erasure deletes the hints of what it erases.
    for (const { name } of store.groups)
      await store.client(name).change({
        sql: 'DELETE FROM schemaless.buffer WHERE column_name = ? AND row_key = ?',
        parameters: [Buffer.from('ORDER'), rowKeyBytes(row_key)],
      });
    await drainAll();
    expect(await shownAt(row_key)).toEqual(['OUTBOX 17']);
  });

  it('of many rows is committed together with other writes', async () => {
    const rows = Array.from({ length: 40 }, () => randomUUID());
    const results = await Promise.all(
      rows.flatMap((row_key) => [
        trips.transact(orderOf({ row_key })),
        trips.put({ row_key, column_name: 'ORDER', ref_key: 3, body: 1 }),
      ]),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'stored'));
    for (const row_key of rows) expect(await shownAt(row_key)).toEqual(['ORDER 4', 'OUTBOX 17']);
  });
});
