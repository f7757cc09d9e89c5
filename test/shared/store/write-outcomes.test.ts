import { afterEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../../shared/address.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

const SHARDS = 9;
const broken = faults();
const { store, trips, primary, others, groupOf, cellIn } = await sharedTrips(SHARDS, { wrap: broken.wrap });

afterEach(() => broken.behaviours.clear());

const newCell = () => cellIn(0);

async function copies(): Promise<number[]> {
  broken.behaviours.clear();
  return (await trips.getBuffer()).groups.map((group) => ('error' in group ? Number.NaN : group.rows));
}

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

describe('a write', () => {
  it('puts a copy on one secondary before the primary is tried', async () => {
    const before = await copies();
    broken.statements.length = 0;
    expect((await trips.put(newCell())).outcome).toBe('stored');
    const changed = broken.statements.filter(({ sql }) => sql.startsWith('INSERT'));
    expect(changed.map(({ sql }) => /INTO (\S+)/.exec(sql)?.[1])).toEqual([
      '`schemaless`.buffer',
      expect.stringContaining('_0000`.`entity`'),
    ]);
    expect(others).toContain(changed[0]?.group);
    expect(changed[1]?.group).toBe(primary);
    expect(total(await copies()) - total(before)).toBe(1);
  });

  it('is buffered on two groups while its primary is down, and not readable', async () => {
    const before = await copies();
    const cell = newCell();
    for (let time = 0; time < 2; time += 1) {
      broken.behaviours.set(primary, 'down');
      expect(await trips.put(cell)).toEqual({ outcome: 'buffered', shard: 0, copies: 2 });
      expect(total(await copies()) - total(before)).toBe(2);
      expect((await trips.get(cell)).cell).toBeNull();
    }
  });

  it('is buffered once where only one other group lives', async () => {
    broken.behaviours.set(primary, 'down').set(others[0] ?? '', 'down');
    expect(await trips.put(newCell())).toEqual({ outcome: 'buffered', shard: 0, copies: 1 });
  });

  it('is buffered next to another body for its address in the same batch, since either may be stored', async () => {
    const before = await copies();
    const cell = newCell();
    broken.behaviours.set(primary, 'down');
    const results = await trips.batchPut([cell, { ...cell, body: 'other' }, cell]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['buffered', 'buffered', 'buffered']);
    expect(total(await copies()) - total(before)).toBe(4);
  });

  it('is unavailable without any secondary, and the primary is not tried', async () => {
    const cell = newCell();
    for (const group of others) broken.behaviours.set(group, 'down');
    broken.statements.length = 0;
    expect(await trips.put(cell)).toMatchObject({ outcome: 'unavailable', shard: 0 });
    expect(broken.statements.filter(({ group }) => group === primary)).toEqual([]);
    broken.behaviours.clear();
    expect((await trips.get(cell)).cell).toBeNull();
    expect((await trips.put(cell)).outcome).toBe('stored');
  });

  it('takes another secondary when the chosen one fails', async () => {
    broken.behaviours.set(others[1] ?? '', 'down');
    for (let round = 0; round < 8; round += 1) expect((await trips.put(newCell())).outcome).toBe('stored');
  });

  it('whose answers are lost is there, is answered as buffered, and a retry says so', async () => {
    const cell = newCell();
    broken.behaviours.set(primary, 'lost-answers');
    expect((await trips.put(cell)).outcome).toBe('buffered');
    broken.behaviours.clear();
    expect((await trips.get(cell)).cell?.body).toEqual(cell.body);
    expect((await trips.put(cell)).outcome).toBe('stored_before');
  });

  it('that conflicts leaves no copy behind', async () => {
    const cell = newCell();
    await trips.put(cell);
    const before = await copies();
    expect((await trips.put({ ...cell, body: 'other' })).outcome).toBe('conflict');
    expect((await trips.batchPut([newCell(), { ...cell, body: 'other' }])).map(({ outcome }) => outcome)).toEqual([
      'stored',
      'conflict',
    ]);
    expect(total(await copies()) - total(before)).toBe(1);
  });

  it('that conflicts leaves the copy of another who was told 202', async () => {
    const cell = newCell();
    const loser = { ...cell, body: 'loser' };
    broken.behaviours.set(primary, 'down');
    expect(await trips.put(loser)).toMatchObject({ outcome: 'buffered', copies: 2 });
    broken.behaviours.clear();
    expect((await trips.put(cell)).outcome).toBe('stored');
    const before = await copies();
    expect((await trips.put(loser)).outcome).toBe('conflict');
    expect(await copies()).toEqual(before);
  });

  it('of a batch over all groups answers for the living ones while one is down', async () => {
    const cells = Array.from({ length: 30 }, () => cellOf());
    broken.behaviours.set(primary, 'down');
    const results = await trips.batchPut(cells);
    for (const [position, result] of results.entries()) {
      const group = groupOf(shardOf(cells[position]?.row_key ?? '', SHARDS));
      expect(result.outcome).toBe(group === primary ? 'buffered' : 'stored');
    }
  });

  it('without buffering is unavailable while its primary is down', async () => {
    await using plain = await openTrips(3, { bufferCopies: 0, wrap: broken.wrap });
    const cell = cellOf();
    broken.behaviours.set(plain.groupOf(shardOf(cell.row_key, 3)), 'down');
    expect((await plain.trips.put(cell)).outcome).toBe('unavailable');
    broken.behaviours.clear();
    expect((await plain.trips.put(cell)).outcome).toBe('stored');
    expect(total((await plain.trips.getBuffer()).groups.map((one) => ('error' in one ? Number.NaN : one.rows)))).toBe(
      0,
    );
  });

  it('of many cells costs one statement a shard, and at most one a group for the buffer', async () => {
    const rows = Array.from({ length: SHARDS }, (_, shard) => rowsOfShard(shard, SHARDS, 11)).flat();
    broken.statements.length = 0;
    await trips.batchPut(rows.map((row_key) => cellOf({ row_key })));
    expect(broken.statements.filter(({ sql }) => sql.includes('INTO `schemaless`.buffer')).length).toBeLessThanOrEqual(
      store.groups.length,
    );
    expect(broken.statements.filter(({ sql }) => sql.includes('`.`entity`'))).toHaveLength(SHARDS);
  });
});

describe('a read', () => {
  it.skipIf(WRITER_ONLY)(
    'goes to the writer unless asked otherwise, and to the other role when that fails',
    async () => {
      const cell = newCell();
      await trips.put(cell);
      await expect.poll(async () => (await trips.get(cell, { read: 'reader' })).cell?.body).toEqual(cell.body);
      expect(await trips.get(cell)).toMatchObject({ served_by: 'writer', stale: false });
      expect(await trips.get(cell, { read: 'reader' })).toMatchObject({ served_by: 'reader', stale: true });
      broken.behaviours.set(primary, 'writer-down');
      expect(await trips.get(cell)).toMatchObject({ served_by: 'reader', stale: true, cell: { body: cell.body } });
      expect(await trips.get(newCell())).toMatchObject({ served_by: 'reader', stale: true, cell: null });
      broken.behaviours.set(primary, 'readers-down');
      // The writer's circuit may be open until a health check succeeds.
      await expect
        .poll(() => trips.get(cell, { read: 'reader' }).catch(() => undefined))
        .toMatchObject({ served_by: 'writer', stale: false });
    },
  );

  it.skipIf(WRITER_ONLY)(
    'vouches for a reader that has reached min_added_id, and passes over one that has not',
    async () => {
      const cell = newCell();
      const put = await trips.put(cell);
      const added_id = 'added_id' in put ? (put.added_id ?? 0) : 0;
      await expect
        .poll(async () => (await trips.get(cell, { read: 'reader', min_added_id: added_id })).served_by)
        .toBe('reader');
      const asked = (min_added_id: number) => ({ ...cell, min_added_id });
      const reads = async (min_added_id: number) => {
        const options = { read: 'reader', min_added_id } as const;
        return [
          await trips.get(cell, options),
          await trips.versions(cell, options),
          await trips.row(cell.row_key, options),
          ...(await lookedUp(trips, [cell, cell], options)),
          // Each key of a batch has its own.
          ...(await trips.batchGet([min_added_id, added_id + 1000].map(asked), { read: 'reader' })).slice(0, 1),
        ];
      };
      const [reached, behind] = [await reads(added_id), await reads(added_id + 1000)];
      expect(reached).toMatchObject(reached.map(() => ({ served_by: 'reader', stale: false })));
      expect(behind).toMatchObject(behind.map(() => ({ served_by: 'writer', stale: true })));
      for (const [got] of [reached, behind]) expect(got).toMatchObject({ cell: { added_id } });
    },
  );

  it('with every node of a group down fails for its rows alone', async () => {
    const cells = Array.from({ length: 30 }, () => cellOf());
    await trips.batchPut(cells);
    broken.behaviours.set(primary, 'down');
    await expect(trips.get(newCell())).rejects.toMatchObject({ code: 'unavailable', status: 503, retry: 'later' });
    for (const [position, item] of (await trips.batchGet(cells)).entries()) {
      const group = groupOf(shardOf(cells[position]?.row_key ?? '', SHARDS));
      if (group === primary) expect(item).toMatchObject({ error: { code: 'unavailable' } });
      else expect(item).toMatchObject({ row_key: cells[position]?.row_key });
    }
    const logs = await trips.log(Array.from({ length: SHARDS }, (_, shard) => ({ shard, after: 0 })));
    for (const log of logs) expect(log.error?.code).toBe(groupOf(log.shard) === primary ? 'unavailable' : undefined);
    for (const head of await trips.heads())
      expect(head.error?.code).toBe(head.group === primary ? 'unavailable' : undefined);
  });

  it('of a batch costs one statement a group', async () => {
    const cells = Array.from({ length: 100 }, () => cellOf());
    broken.statements.length = 0;
    await trips.batchGet(cells);
    expect(broken.statements).toHaveLength(store.groups.length);
    broken.statements.length = 0;
    await trips.log(Array.from({ length: SHARDS }, (_, shard) => ({ shard, after: 0 })));
    expect(broken.statements).toHaveLength(store.groups.length);
  });
});
