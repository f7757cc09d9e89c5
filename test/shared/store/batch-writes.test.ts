import { afterEach, describe, expect, it } from 'vitest';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

const WRITERS = 24;
const SHARDS = 3;

const between = faults();
const { trips, primary, rowIn, logOf } = await sharedTrips(SHARDS, { wrap: between.wrap });

afterEach(() => {
  between.behaviours.clear();
  between.statements.length = 0;
});

function statementsWith(text: string): number {
  return between.statements.filter(({ sql }) => sql.includes(text)).length;
}

function outcomes(results: readonly PutResult[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(results, ({ outcome }) => outcome)].map(([outcome, some]) => [outcome, some.length]),
  );
}

describe('writes that come to one shard at the same time', () => {
  it('share appends and copies, and each is told what became of its own cells', async () => {
    const rows = rowsOfShard(0, SHARDS, WRITERS);
    const results = (
      await Promise.all(
        rows.map(async (row_key, position) =>
          position % 4 === 0
            ? trips.batchPut([
                cellOf({ row_key, body: { place: position } }),
                cellOf({ row_key, ref_key: 2, body: { place: position } }),
              ])
            : [await trips.put(cellOf({ row_key, body: { place: position } }))],
        ),
      )
    ).flat();
    expect(outcomes(results)).toEqual({ stored: WRITERS + WRITERS / 4 });
    expect(statementsWith('`entity` (added_id')).toBeLessThan(WRITERS / 4);
    expect(statementsWith('INSERT INTO `schemaless`.buffer')).toBeLessThan(WRITERS / 2);

    const ids = results.map((result) => ('added_id' in result ? result.added_id : undefined));
    expect(ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids.map((_, position) => position + 1));
    const bodies = new Map((await logOf(0)).map(({ added_id, body }) => [added_id, body]));
    const wanted = rows.flatMap((_, position) =>
      position % 4 === 0 ? [{ place: position }, { place: position }] : [{ place: position }],
    );
    expect(ids.map((id) => bodies.get(id ?? 0))).toEqual(wanted);
  });

  it('with one address are stored once: an equal body is reported as stored before, another one is refused', async () => {
    const row_key = rowIn(0);
    const cells = Array.from({ length: WRITERS }, (_, writer): NewCell =>
      cellOf({ row_key, ref_key: 77, body: { writer: writer % 3 } }),
    );
    const results = await Promise.all(cells.map((cell) => trips.put(cell)));
    expect(outcomes(results)).toEqual({ stored: 1, stored_before: WRITERS / 3 - 1, conflict: (WRITERS / 3) * 2 });
    const winner = cells[results.findIndex(({ outcome }) => outcome === 'stored')];
    expect((await trips.get({ row_key, column_name: 'BASE', ref_key: 77 })).cell?.body).toEqual(winner?.body);
  });

  it('are all buffered, on two groups each, when their primary fails, and are all told so', async () => {
    const rows = rowsOfShard(0, SHARDS, WRITERS);
    between.behaviours.set(primary, 'down');
    const results = await Promise.all(rows.map((row_key) => trips.put(cellOf({ row_key, ref_key: 9 }))));
    expect(results.map((result) => ('copies' in result ? result.copies : result))).toEqual(results.map(() => 2));
  });

  it('whose append loses its answer are found to be stored when they are repeated', async () => {
    const rows = rowsOfShard(0, SHARDS, WRITERS);
    const put = () => Promise.all(rows.map((row_key) => trips.put(cellOf({ row_key, ref_key: 10 }))));
    between.behaviours.set(primary, 'lost-answers');
    expect(outcomes(await put())).toEqual({ buffered: WRITERS });
    between.behaviours.clear();
    expect(outcomes(await put())).toEqual({ stored_before: WRITERS });
  });
});

describe('reads of single cells that come at the same time', () => {
  it('share statements, and each gets its own cell, or none', async () => {
    const rows = rowsOfShard(0, SHARDS, WRITERS);
    for (const [position, row_key] of rows.entries())
      if (position % 2 === 0) await trips.put(cellOf({ row_key, ref_key: 20, body: { place: position } }));
    between.statements.length = 0;
    const found = await Promise.all(
      rows.map((row_key, position) =>
        position % 3 === 0
          ? trips.getLatest({ row_key, column_name: 'BASE' })
          : trips.get({ row_key, column_name: 'BASE', ref_key: 20 }),
      ),
    );
    expect(found.map(({ cell }) => (cell?.ref_key === 20 ? cell.body : null))).toEqual(
      rows.map((_, position) => (position % 2 === 0 ? { place: position } : null)),
    );
    expect(statementsWith('SELECT')).toBeLessThan(WRITERS / 4);
  });

  it.skipIf(WRITER_ONLY)('go to the reader as a batch when the writer is unavailable', async () => {
    const rows = rowsOfShard(0, SHARDS, 6);
    between.behaviours.set(primary, 'writer-down');
    const found = await Promise.all(rows.map((row_key) => trips.getLatest({ row_key, column_name: 'BASE' })));
    expect(found.map(({ served_by, stale }) => [served_by, stale])).toEqual(found.map(() => ['reader', true]));
  });
});
