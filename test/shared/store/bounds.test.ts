import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Cell, Json, NewCell } from '../../../shared/cell.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { DEPTH, wantedEntries } from '../../../shared/index/wanted-entries.ts';
import { maintainedIndexes } from '../../../shared/index/index-table.ts';
import { shardOf } from '../../../shared/address.ts';
import { bufferOnSecondaries, markAnswered, secondariesOf, withNewWriter } from '../../../shared/store/hints.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { readPages } from '../../support/read-pages.ts';

const SHARDS = 3;
/** Random bytes of a body that just may be written, and of one that may not: encoded they are a little more. */
const LARGEST = 61_000;
const TOO_LARGE = 62_000;
/** Of the largest bodies: more than a result of 1 MiB holds, and as many as a request of 4 MiB. */
const COUNT = 45;
const AT_ONCE = 8;

// The limits of the RDS Data API: 64 KiB a row, 1 MiB a result, 4 MiB a request.
const { store, trips, name, primary, rowIn } = await sharedTrips(SHARDS, {
  indexes: [indexOn('city_index', { city: 'string' })],
  access: 'data-api',
});

function randomText(bytes = LARGEST): string {
  return randomBytes(bytes).toString('base64');
}

function large(more: Partial<NewCell> = {}): NewCell {
  return cellOf({ row_key: randomUUID(), body: randomText(), ...more });
}

async function putAll(cells: readonly NewCell[]): Promise<void> {
  for (let start = 0; start < cells.length; start += AT_ONCE) {
    const results = await Promise.all(cells.slice(start, start + AT_ONCE).map((cell) => trips.put(cell)));
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
  }
}

const bodiesOf = (cells: readonly { readonly body: Json }[]): Json[] => cells.map(({ body }) => body);
const sortedBodies = (cells: readonly { readonly body: Json }[]): string[] =>
  cells.map(({ body }) => String(body)).sort();

describe('over the RDS Data API, writes', () => {
  it('take the largest body that can be read again, and refuse a larger one beforehand, by its field', async () => {
    const cell = large();
    await putAll([cell]);
    expect((await trips.get(cell)).cell?.body).toBe(cell.body);
    const refused = large({ body: randomText(TOO_LARGE) });
    expect(await errorOf(() => trips.put(refused))).toMatchObject({
      code: 'body_too_large',
      details: { field: 'body' },
      message: expect.stringMatching(/^body: wanted at most 61440 bytes, encoded, got 62\d\d\d$/u),
    });
    expect(await errorOf(() => trips.batchPut([cell, refused]))).toMatchObject({
      code: 'body_too_large',
      details: { field: 'cells[1].body' },
    });
    expect((await trips.get(refused)).cell).toBeNull();
  });

  it('of many cells take what a request carries, and refuse more beforehand', async () => {
    const cells = Array.from({ length: COUNT }, () => large());
    expect(new Set((await trips.batchPut(cells)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
    const items = await trips.batchGet(cells);
    expect(items.map((item) => (item && 'body' in item ? item.body : item))).toEqual(bodiesOf(cells));
    expect(new Set((await trips.batchPut(cells)).map(({ outcome }) => outcome))).toEqual(new Set(['stored_before']));

    const more = Array.from({ length: COUNT + 5 }, () => large());
    expect(await errorOf(() => trips.batchPut(more))).toMatchObject({
      code: 'request_too_large',
      details: { field: 'cells' },
    });
    expect((await trips.get(more[0] as NewCell)).cell).toBeNull();
  });
});

describe('over the RDS Data API, reads', () => {
  it('of versions, rows and logs come to their end in pages, and say that the writer answered', async () => {
    const rows = Array.from({ length: SHARDS }, (_, shard) => rowIn(shard));
    const before = await trips.heads();
    const written = rows.flatMap((row_key) =>
      Array.from({ length: COUNT / 3 }, (_, ref_key) => large({ row_key, ref_key })),
    );
    const columns = Array.from({ length: COUNT }, (_, position) =>
      large({ row_key: rows[0] ?? '', column_name: `COLUMN ${String(position).padStart(2, '0')}` }),
    );
    await putAll([...written, ...columns]);

    const ofRow = written.filter(({ row_key }) => row_key === rows[0]);
    const versions = await readPages((after: number | undefined) =>
      trips.versions({ row_key: rows[0] ?? '', column_name: 'BASE' }, { order: 'asc', after, limit: 1000 }),
    );
    expect(versions.flatMap(({ cells }) => bodiesOf(cells))).toEqual(bodiesOf(ofRow));
    const row = await readPages((after: string | undefined) => trips.row(rows[0] ?? '', { after }));
    expect(row.flatMap(({ cells }) => bodiesOf(cells))).toEqual(bodiesOf([ofRow.at(-1) as NewCell, ...columns]));
    expect(await trips.get(ofRow[0] as NewCell, { read: 'reader' })).toMatchObject({
      served_by: 'writer',
      stale: false,
    });

    const seen: Cell[] = [];
    let after = before.map((head) => ('head' in head ? head.head : Number.NaN));
    for (let pages = 0; seen.length < written.length + columns.length && pages < 100; pages += 1) {
      const logs = await trips.log(
        after.map((one, shard) => ({ shard, after: one })),
        { limit: 1000 },
      );
      for (const log of logs) if (!log.error) seen.push(...log.cells);
      after = logs.map((log) => (log.error ? Number.NaN : log.next));
    }
    expect(sortedBodies(seen)).toEqual(sortedBodies([...written, ...columns]));
  });

  it('of a thousand shards at once need no statement that is too long', async () => {
    const locations = Array.from({ length: 1000 }, (_, position) => ({ shard: position % SHARDS, after: 0 }));
    expect((await trips.log(locations, { limit: 1 })).filter((log) => log.error)).toEqual([]);
    const since = locations.map(({ shard }) => ({ shard, since: '2026-01-01T00:00:00Z' }));
    expect((await trips.log(since, { limit: 1 })).filter((log) => log.error)).toEqual([]);
  });
});

describe('over the RDS Data API, an index', () => {
  it('finds every former value of a row whose cells are more than a result, and of those next to it', async () => {
    const row_key = randomUUID();
    const versions = Array.from({ length: COUNT }, (_, ref_key) =>
      large({ row_key, ref_key, body: { city: `city ${ref_key}`, text: randomText(LARGEST - 100) } }),
    );
    const alongside = cellOf({ row_key: randomUUID(), body: { city: 'beside' } });
    await putAll([...versions, alongside]);
    const indexes = await maintainedIndexes(store.topology, name);
    const rows = [row_key, alongside.row_key].map((key) => ({ row_key: key, shard: shardOf(key, SHARDS) }));
    const wanted = { datastore: name, indexes, depth: DEPTH.all };
    const { entries } = await wantedEntries(store.context, wanted, rows);
    const values = (tombstone: boolean): unknown[] =>
      entries
        .filter(({ row }) => row.tombstone === tombstone)
        .map(({ row }) => row.values[0])
        .sort();
    expect(values(false)).toEqual(['beside', `city ${COUNT - 1}`]);
    expect(values(true)).toEqual(
      versions
        .slice(0, -1)
        .map((_, position) => `city ${position}`)
        .sort(),
    );
  });

  it('names the row whose cells are more than fit, in place of some of them', async () => {
    const row_key = randomUUID();
    const city = `full of ${row_key}`;
    await putAll([
      cellOf({ row_key, body: { city } }),
      ...Array.from({ length: 20 }, (_, position) => large({ row_key, column_name: `COLUMN ${position}` })),
    ]);
    const ask = async (columns: readonly string[] | '*') =>
      (await trips.query({ index: 'city_index', where: { city }, columns })).entries;
    await expect.poll(() => ask('*')).toMatchObject([{ row_key, cells: { error: { code: 'answer_too_large' } } }]);
    const [entry] = await ask(Array.from({ length: 20 }, (_, position) => `COLUMN ${position}`));
    expect(entry?.cells).toHaveLength(20);
  });
});

describe('over the RDS Data API, the buffer', () => {
  it('of large bodies is drained, and its conflicts are listed in pages', async () => {
    const row_key = rowIn(0);
    const secondaries = secondariesOf(store.context, name);
    const buffer = async (given: readonly NewCell[]) => {
      const cells = withNewWriter(given.map((cell) => copyOf(cell)));
      return { cells, hintHolders: await bufferOnSecondaries(secondaries, cells, 1, [primary]) };
    };
    const drain = (holder: string) =>
      drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 10_000 });
    const cells = Array.from({ length: COUNT }, (_, ref_key) => large({ row_key, ref_key: 1000 + ref_key }));
    const [hintHolder = ''] = (await buffer(cells)).hintHolders;
    await drain(hintHolder);
    expect(await trips.versions({ row_key, column_name: 'BASE' }, { limit: 1000 })).toMatchObject({
      cells: expect.arrayContaining([expect.objectContaining({ ref_key: 1000 + COUNT - 1 })]),
    });

    const others = cells.map((cell) => ({ ...cell, body: randomText() }));
    await markAnswered(store.context, name, [await buffer(others)], false);
    for (const group of store.groups) await drain(group.name);
    const pages = await readPages((after: string | undefined) => trips.listBufferConflicts({ limit: 1000, after }));
    for (const page of pages) expect(page.conflicts.length).toBeLessThan(COUNT);
    const conflicts = pages.flatMap((page) => page.conflicts);
    expect(sortedBodies(conflicts)).toEqual(sortedBodies(others));
    await trips.discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  });
});
