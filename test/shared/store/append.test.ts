import { describe, expect, it } from 'vitest';
import type { Cell, NewCell } from '../../../shared/cell.ts';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import { appendToPrimary } from '../../../shared/store/append.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';

const { store, trips, name, clientOf, entity, rowIn, logOf } = await sharedTrips(2, { bufferCopies: 0 });

async function wholeLog(shard: number): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (;;) {
    const page = await logOf(shard, cells.at(-1)?.added_id);
    if (page.length === 0) return cells;
    cells.push(...page);
  }
}

describe('the append, with writers side by side', () => {
  it('numbers one hot shard densely and in order of time, repeats and batches among the writers, and a tailer misses nothing', async () => {
    const rows = rowsOfShard(0, 2, 6);
    // Each as an instance of its own: one would join what its writers append at the same time.
    const writers = Array.from({ length: 12 }, () => store.open());
    const acknowledged = new Map<string, number>();
    let writing = true;
    const tailed: number[] = [];
    const tail = (async () => {
      for (let after = 0, last = false; ;) {
        const [log] = await trips.log([{ shard: 0, after }], { limit: 100 });
        if (!log || log.error) throw new Error('no log');
        tailed.push(...log.cells.map(({ added_id }) => added_id));
        after = log.next;
        if (log.cells.length === 0 && last) return;
        last = !writing;
      }
    })();
    await Promise.all(
      writers.map(async (instance, writer) => {
        const own = await instance.datastore(name);
        for (let round = 0; round < 25; round += 1) {
          const cells: NewCell[] = Array.from({ length: writer % 3 === 0 ? 4 : 1 }, (_unused, position) =>
            // A third of the addresses are shared by all writers.
            cellOf({
              row_key: rows[(round + position) % 6] ?? '',
              ref_key: round % 3 === 0 ? round * 10 + position : writer * 10_000 + round * 10 + position,
              body: 'same',
            }),
          );
          for (const [position, result] of (await own.batchPut(cells)).entries()) {
            const cell = cells[position];
            if (!cell || !('added_id' in result) || result.added_id === undefined)
              throw new Error(`not stored: ${JSON.stringify(result)}`);
            expect(['stored', 'stored_before']).toContain(result.outcome);
            const address = `${cell.row_key}/${cell.ref_key}`;
            expect(acknowledged.get(address) ?? result.added_id).toBe(result.added_id);
            acknowledged.set(address, result.added_id);
          }
        }
      }),
    );
    writing = false;
    await tail;
    await Promise.all(writers.map((instance) => instance.close()));
    const cells = await wholeLog(0);
    expect(cells.map(({ added_id }) => added_id)).toEqual(cells.map((_, position) => position + 1));
    expect(tailed).toEqual(cells.map(({ added_id }) => added_id));
    expect(cells).toHaveLength(acknowledged.size);
    for (const cell of cells) expect(acknowledged.get(`${cell.row_key}/${cell.ref_key}`)).toBe(cell.added_id);
    const times = cells.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort());
    expect(store.events.filter(({ kind }) => kind === 'added_id_taken')).toEqual([]);
  });

  it('writes nothing to a shard that is closed, or has another epoch, and finds it again once it is open', async () => {
    const row_key = rowIn(1);
    const assign = (assignment: string) =>
      change(clientOf(1), `UPDATE schemaless.shard SET ${assignment} WHERE datastore = ? AND shard = 1`, name);
    for (const [off, on] of [
      ["state = 'closed'", "state = 'open'"],
      ['epoch = 2', 'epoch = 1'],
    ] as const) {
      await assign(off);
      const cell = cellOf({ row_key, ref_key: 1 });
      const batch = [cell, cellOf({ row_key, ref_key: 2 })];
      expect((await trips.put(cell)).outcome).toBe('unavailable');
      expect((await trips.batchPut(batch)).map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable']);
      expect((await trips.get(cell)).cell).toBeNull();
      await assign(on);
      await trips.batchPut(batch);
      expect((await trips.put(cell)).outcome).toBe('stored_before');
      await change(clientOf(1), `DELETE FROM ${entity(1)}`);
      await change(clientOf(1), 'UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = ?', name);
    }
  });
});

it('recovery appends cells later than the last one, also behind a clock that was ahead', async () => {
  const [first, ordinary, restored] = [1, 2, 3].map((ref_key) => copyOf(cellOf({ row_key: rowIn(1), ref_key }), 1)) as [
    BufferedCell,
    BufferedCell,
    BufferedCell,
  ];
  await appendToPrimary(store.context, name, 1, [first]);
  await change(clientOf(1), `UPDATE ${entity(1)} SET created_at = '2999-01-31 08:00:00.000007'`);
  // The numbers of the group commit know the old time.
  await change(clientOf(1), 'UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = ?', name);
  await appendToPrimary(store.context, name, 1, [ordinary]);
  await appendToPrimary(store.context, name, 1, [restored], { anyWriter: true });
  const times = (await wholeLog(1)).slice(-2).map(({ created_at }) => created_at);
  expect(times).toEqual(['2999-01-31T08:00:00.000007Z', '2999-01-31T08:00:00.000008Z']);
});
