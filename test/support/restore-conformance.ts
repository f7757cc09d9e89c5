import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { NewCell, RestoredCell } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { cellOf, errorOf, rowsOfShard } from './datastore-conformance.ts';

/** In the order of a log: two at the same moment, one years later. */
const PAST = ['2019-05-01T00:00:00.000001Z', '2019-05-01T00:00:00.000001Z', '2024-12-31T23:59:59.999999Z'];

/**
 * Tests the contract of cells that are restored with their times. Not for smoke checks: clients lack the right.
 *
 * @param open a datastore some of whose shards are empty
 */
export function describeRestoring(label: string, open: () => Promise<Datastore>): void {
  describe(`${label}: cells that are restored`, () => {
    it('have their times, to the microsecond, and are in the log like any others', async () => {
      const datastore = await open();
      const { shard, row } = await emptyShard(datastore);
      const cells = restored(row, PAST);

      const results = await datastore.batchRestore(cells);

      const found = cells.map(({ created_at }, position) => ({ shard, added_id: position + 1, created_at }));
      expect(results).toMatchObject(found.map(({ added_id }) => ({ outcome: 'stored', shard, added_id })));
      const [log] = await datastore.log([{ shard, after: 0 }]);
      expect(log).toMatchObject({ cells: cells.map((cell, position) => ({ ...cell, ...found[position] })) });
      const [since] = await datastore.log([{ shard, since: '2020-01-01T00:00:00Z' }]);
      expect(since).toMatchObject({ cells: [{ created_at: PAST[2] }], next: 3 });
    });

    it('have no time before that of the last cell of their shard, and none that is yet to come', async () => {
      const datastore = await open();
      const row_key = randomUUID();
      const last = cellOf({ row_key, column_name: 'NOTES' });
      const next = { ...last, ref_key: 2 };
      await datastore.put(last);
      const cells = restored(row_key, ['2020-01-01T00:00:00+02:00', '2999-01-01T00:00:00Z', '1000-01-01T00:00:00Z']);
      await datastore.batchRestore(cells);
      await datastore.put(next);

      const [before = '', ...times] = await timesOf(datastore, [last, ...cells, next]);
      expect([before, ...times]).toEqual([before, ...times].toSorted());
      expect(times[0]).toBe(before);
      expect(times[2]).toBe(times[1]);
      // A future time becomes the current one.
      expect(String(times[1]) < '2999').toBe(true);
    });

    it('have their times as a transaction too, which takes no conditions and no cell without', async () => {
      const datastore = await open();
      const { shard, row } = await emptyShard(datastore);
      const cells = restored(row, PAST.slice(0, 2)).map(({ column_name, ref_key, body, created_at }) => ({
        column_name,
        ref_key,
        body,
        created_at,
      }));
      const transaction = { row_key: row, cells };
      const ofRow = { column_name: 'NOTES', ref_key: 9, body: null };
      for (const wrong of [
        { ...transaction, if: [{ column_name: 'NOTES', latest: null }] },
        { ...transaction, cells: [...cells, ofRow] },
      ])
        expect(await errorOf(() => datastore.transact(wrong))).toMatchObject({ code: 'invalid_field' });
      expect(await datastore.transact(transaction)).toEqual({ outcome: 'stored', shard, added_ids: [1, 2] });
      expect(await datastore.transact(transaction)).toMatchObject({ outcome: 'stored_before' });
      const [log] = await datastore.log([{ shard, after: 0 }]);
      const places = cells.map(({ created_at }, position) => ({ created_at, transaction: { size: 2, position } }));
      expect(log).toMatchObject({ cells: places });
    });

    it('have at least the times of those before them in their batch', async () => {
      const datastore = await open();
      const { row } = await emptyShard(datastore);
      const cells = restored(row, [
        '2001-01-01T00:00:00.000000Z',
        '2002-01-01T00:00:00.000000Z',
        '2001-06-01T00:00:00.000000Z',
        '1999-12-31T00:00:00.000000Z',
        '2003-01-01T00:00:00.000000Z',
      ]);
      await datastore.batchRestore(cells.slice(0, 1));

      await datastore.batchRestore(cells);

      expect(await timesOf(datastore, cells)).toEqual([
        '2001-01-01T00:00:00.000000Z',
        '2002-01-01T00:00:00.000000Z',
        '2002-01-01T00:00:00.000000Z',
        '2002-01-01T00:00:00.000000Z',
        '2003-01-01T00:00:00.000000Z',
      ]);
    });

    it('may be as old as a time can be, where nothing is before them', async () => {
      const datastore = await open();
      const { row } = await emptyShard(datastore);
      const cells = restored(row, ['1000-01-01T00:00:00.000000Z']);
      await datastore.batchRestore(cells);
      expect(await timesOf(datastore, cells)).toEqual(['1000-01-01T00:00:00.000000Z']);
    });

    it('stay as they are once they are there, whatever time they are given again', async () => {
      const datastore = await open();
      // Times never go back within a shard: a later one of another row would be taken.
      const [cell] = restored((await emptyShard(datastore)).row, PAST) as [RestoredCell];
      const [stored] = await datastore.batchRestore([cell]);
      const again = { ...cell, created_at: '2026-01-01T00:00:00Z' };
      const before = { ...stored, outcome: 'stored_before', created_at: cell.created_at };

      expect(await datastore.batchRestore([again, again, { ...again, body: 'another' }])).toEqual([
        before,
        before,
        expect.objectContaining({ outcome: 'conflict' }),
      ]);
      expect(await datastore.put(cell)).toEqual(before);
    });

    it('are refused where a time is none, and nothing is stored', async () => {
      const datastore = await open();
      for (const created_at of ['yesterday', '2026-01-31', '2026-01-31T08:00:00', '2026-02-30T08:00:00Z', 7, null]) {
        const [cell, other] = restored(randomUUID(), PAST) as [RestoredCell, RestoredCell];
        const cells = [cell, { ...other, created_at }] as readonly RestoredCell[];
        const error = await errorOf(() => datastore.batchRestore(cells));
        expect(error).toMatchObject({ code: 'invalid_field', field: 'cells[1].created_at' });
        expect((await datastore.get(cell)).cell).toBeNull();
      }
    });
  });
}

/** Versions of one column of a row, in the order of these times. */
function restored(row_key: string, times: readonly string[]): readonly RestoredCell[] {
  return times.map((created_at, ref_key) => ({ ...cellOf({ row_key, ref_key, body: { ref_key } }), created_at }));
}

async function emptyShard(datastore: Datastore): Promise<{ readonly shard: number; readonly row: string }> {
  const heads = await datastore.heads();
  const empty = heads.find((one) => one.error === undefined && one.head === 0);
  if (!empty) throw new Error('no shard is empty');
  return { shard: empty.shard, row: rowsOfShard(empty.shard, heads.length, 1)[0] ?? '' };
}

async function timesOf(datastore: Datastore, cells: readonly NewCell[]): Promise<readonly string[]> {
  const found = await datastore.batchGet(cells);
  return found.map((cell) => (cell && 'created_at' in cell ? cell.created_at : 'nothing'));
}
