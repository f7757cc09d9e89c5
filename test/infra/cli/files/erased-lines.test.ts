import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { compareCells, type CellDifference } from '../../../../infra/cli/files/compare-command.ts';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import type { Cell } from '../../../../shared/cell.ts';
import type { IndexStatus } from '../../../../shared/api/indexes.ts';
import { exportCells } from '../../../../shared/files/export-cells.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { ERASED } from '../../../functions/support/fake-erasures.ts';
import { importTests } from './import-file.ts';

const scene = importTests();
const ROW = ERASED.row_key;
const cell = { row_key: ROW, column_name: 'BASE', shard: 0, created_at: '2026-01-31T08:00:00.000000Z' };
const note = { id: ERASED.id, reason: ERASED.reason };
/** A log in which something was erased: what is left, what it was of, and the erasures themselves. */
const LOG: readonly Cell[] = [
  { ...cell, ref_key: 1, added_id: 1, body: { value: 1 }, transaction: { size: 1, position: 0 } },
  { ...cell, ref_key: 2, added_id: 2, body: null, erased: true, body_sha256: 'ab'.repeat(32) },
  { ...cell, ref_key: 2, added_id: 3, body: null, erasure: { ...note, scope: 'cell' } },
  {
    ...cell,
    column_name: '',
    ref_key: Number.MAX_SAFE_INTEGER,
    added_id: 4,
    body: null,
    erasure: { ...note, scope: 'row' },
  },
];
const source = {
  ...referenceStore('trips', 1),
  heads: async () => [{ shard: 0, group: 'group-1', head: LOG.length }],
  log: async () => [
    { shard: 0, cells: LOG, next: LOG.length, more: false, served_by: 'writer', stale: false } as const,
  ],
  listIndexes: async () => ({
    indexes: [
      { fields: [{ field: 'value', type: 'number', column_key: 'BASE' }] },
    ] as unknown as readonly IndexStatus[],
  }),
};

test('an export says what was erased, and has the erasures at their places', async () => {
  const path = join(scene.folder, 'lines');
  await exportCells(source, { target: folderTarget(path), format: 'ndjson' });
  const lines = gunzipSync(readFileSync(join(path, 'part-0001/0000.ndjson.gz')))
    .toString()
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(LOG.map(({ shard: _shard, ...line }) => line));
  expect((await checkExport(folderTarget(path))).faults).toEqual([]);
});

test('in Parquet these are rows without a body', async () => {
  const path = join(scene.folder, 'columns');
  await exportCells(source, { target: folderTarget(path), format: 'parquet' });
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(path, 'part-0001/0000.parquet')) });
  expect(rows.map((row) => [row['added_id'], row['column_name'], row['erased'], row['body'], row['value']])).toEqual([
    [1n, 'BASE', false, '{"value":1}', 1],
    [2n, 'BASE', true, null, null],
    [3n, 'BASE', false, null, null],
    [4n, '', false, null, null],
  ]);
  expect((await checkExport(folderTarget(path))).faults).toEqual([]);
});

test('an import stores the other cells, and rejects what is none, and what the datastore has erased', async () => {
  scene.write([...LOG, { ...cell, ref_key: 3, body: { value: 3 } }]);
  const store = referenceStore('trips', 1);
  const client = {
    ...store,
    batchPut: async (cells: Parameters<typeof store.batchPut>[0]) => {
      const results = await store.batchPut(cells.filter(({ ref_key }) => ref_key !== 3));
      return cells
        .map(({ ref_key }) => (ref_key === 3 ? { outcome: 'erased' as const, shard: 0 } : results[0]))
        .flatMap((result) => result ?? []);
    },
  };
  const report = await scene.importFile(scene.file, { client });
  expect(report.counts).toEqual({ stored: 1, stored_before: 0, buffered: 0, skipped: 0, rejected: 4 });
  expect(scene.rejected()).toMatchObject([
    { line: 2, code: 'erased', reason: expect.stringContaining('before it was exported') },
    { line: 3, code: 'erasure', reason: expect.stringContaining('`schemaless erase`') },
    { line: 4, code: 'erasure' },
    { line: 5, code: 'erased', reason: `${ROW}/BASE/3 was erased for good from the datastore; it is not stored again` },
  ]);
});

test('a comparison finds nothing missing of what was erased, before or since', async () => {
  scene.write(LOG);
  const found: CellDifference[] = [];
  const gone = { ...LOG[1], ref_key: 1, served_by: 'writer', stale: false } as const;
  const client = { batchGet: async () => [gone], with: () => ({ ...client }) } as unknown as Parameters<
    typeof compareCells
  >[0];
  const { sources } = await openInput(scene.file, {});
  const comparison = await compareCells(client, { sources, found: (difference) => void found.push(difference) });
  expect(comparison).toMatchObject({ compared: 1, erased: 4, unreadable: 0, missing: 0, other_body: 0, unanswered: 0 });
  expect(found).toEqual([]);
});
