import { afterEach, describe, expect, it } from 'vitest';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import type { RestoredCell } from '../../../shared/cell.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { appendToPrimary } from '../../../shared/store/append.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 6;
const broken = faults();
const { store, trips, name, groupOf, rowIn, logOf } = await sharedTrips(SHARDS, { wrap: broken.wrap });
afterEach(() => broken.behaviours.clear());

function restoredIn(shard: number, count: number): readonly RestoredCell[] {
  const row_key = rowIn(shard);
  return Array.from({ length: count }, (_, ref_key) => ({
    ...cellOf({ row_key, ref_key, body: { ref_key } }),
    created_at: new Date(Date.UTC(2020, 0, 1, 0, 0, ref_key)).toISOString().replace('Z', '123Z'),
  }));
}

const restoredCopy = ({ created_at, ...cell }: RestoredCell, shard: number): BufferedCell => ({
  ...copyOf(cell, shard),
  stored_at: created_at,
});

const timesOf = (cells: readonly { readonly created_at: string }[]) => cells.map(({ created_at }) => created_at);

async function copies(): Promise<number> {
  broken.behaviours.clear();
  return (await trips.getBuffer()).groups.reduce((sum, group) => sum + ('error' in group ? Number.NaN : group.rows), 0);
}

describe('cells that are restored', () => {
  it('do not share a statement with new ones, which would store them with the time of now', async () => {
    const cells = restoredIn(0, 3);
    const ready = ({ created_at, ...cell }: RestoredCell, isNew: boolean): BufferedCell =>
      isNew ? copyOf(cell) : restoredCopy({ ...cell, created_at }, 0);

    await Promise.all(
      cells.map((cell, position) => appendToPrimary(store.context, name, 0, [ready(cell, position === 2)])),
    );
    const log = await logOf(0);
    const place = log.findIndex(({ ref_key }) => ref_key === 2);
    expect(log.map(({ created_at }) => created_at < '2021')).toEqual(log.map((_, position) => position < place));
  });

  it('are numbered densely, and in order of time, among writers of new ones', async () => {
    const instances = Array.from({ length: 4 }, () => store.open());
    const rows = rowsOfShard(1, SHARDS, 4);
    const restored = restoredIn(1, 100);
    await Promise.all([
      ...instances.map(async (instance, writer) => {
        const own = await instance.datastore(name);
        for (let ref_key = 0; ref_key < 20; ref_key += 1)
          await own.put(cellOf({ row_key: rows[writer] ?? '', ref_key }));
      }),
      (async () => {
        for (let from = 0; from < 100; from += 10) await trips.batchRestore(restored.slice(from, from + 10));
      })(),
    ]);
    await Promise.all(instances.map((instance) => instance.close()));

    const log = await logOf(1);
    expect(log.map(({ added_id }) => added_id)).toEqual(Array.from({ length: 180 }, (_, position) => position + 1));
    expect(timesOf(log)).toEqual(timesOf(log).toSorted());
    expect(new Set(log.map(({ row_key, ref_key }) => `${row_key}/${ref_key}`)).size).toBe(180);
  });

  it.each(['down', 'lost-answers'] as const)(
    'are not buffered while their primary is %s: stored once it is back, they have their times, and leave no copies',
    async (behaviour) => {
      const shard = behaviour === 'down' ? 2 : 3;
      const primary = groupOf(shard);
      const cells = restoredIn(shard, 5);
      const before = await copies();

      broken.behaviours.set(primary, behaviour);
      const results = await trips.batchRestore(cells);
      expect(results).toEqual(
        cells.map(() => ({ outcome: 'unavailable', shard, reason: expect.stringContaining('time') })),
      );
      expect(await copies()).toBe(before);

      const again = await trips.batchRestore(cells);
      const outcome = behaviour === 'down' ? 'stored' : 'stored_before';
      expect(again).toMatchObject(cells.map((_, position) => ({ outcome, shard, added_id: position + 1 })));
      expect(timesOf(await logOf(shard))).toEqual(timesOf(cells));
    },
  );

  it('whose copies are appended in their place have their times, among copies of new ones', async () => {
    const cells = restoredIn(5, 4);
    const holder = store.groups.find((group) => group.name !== groupOf(5))?.name ?? '';
    const waiting: BufferedCell[] = [
      ...cells.slice(0, 3).map((cell) => restoredCopy(cell, 5)),
      copyOf(cellOf({ row_key: rowIn(5) }), 5),
    ];
    await store.client(holder).change(insertBuffered(name, waiting));

    await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0 });

    const log = await logOf(5);
    expect(timesOf(log.slice(0, 3))).toEqual(waiting.slice(0, 3).map((cell) => cell.stored_at));
    expect([log.length, String(log[3]?.created_at) > '2021']).toEqual([4, true]);
    expect(await trips.batchRestore(cells.slice(0, 1))).toMatchObject([
      { outcome: 'stored_before', created_at: log[0]?.created_at },
    ]);
  });

  it('have a copy on another group until they are known to be safe, as any write', async () => {
    const before = await copies();
    await trips.batchRestore(restoredIn(4, 3));
    expect((await copies()) - before).toBe(3);
  });
});
