import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compareCells, type CellDifference } from '../../../../infra/cli/files/compare-command.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import { exportCells } from '../../../../shared/files/export-cells.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
const CELLS = 900;

type Reading = Parameters<typeof compareCells>[0]['batchGet'];

async function compared(batchGet: Reading, path: string) {
  const found: CellDifference[] = [];
  const client = { batchGet, with: () => ({ ...client }) } as unknown as Parameters<typeof compareCells>[0];
  const { sources } = await openInput(path, {});
  const comparison = await compareCells(client, { sources, found: (difference) => void found.push(difference) });
  return { comparison, found };
}

test('a store with all cells of an export has no difference; a restored one lacks later cells', async () => {
  const [whole, early] = [referenceStore('readings', 4), referenceStore('readings', 4)];
  const cells = readings({ cells: CELLS, rows: 40, seed: 'compared' });
  let count = 0;
  for (const cell of cells) {
    await whole.put(cell);
    if (count < 700) await early.put(cell);
    // Lost, and written again with another body.
    else if (count === 700) await early.put({ ...cell, body: 'another' });
    count += 1;
  }
  const path = join(folder.path, 'whole');
  const indexed = { ...whole, listIndexes: async () => ({ indexes: [] }) };
  await exportCells(indexed, { target: folderTarget(path), format: 'ndjson' });

  const same = await compared(whole.batchGet, path);
  expect(same.found).toEqual([]);
  expect(same.comparison).toMatchObject({ compared: CELLS, missing: 0, other_body: 0, unanswered: 0, complete: true });

  const { found, comparison } = await compared(early.batchGet, path);
  expect(comparison).toMatchObject({ compared: CELLS, missing: CELLS - 701, other_body: 1, unanswered: 0 });
  const lost = [...readings({ cells: CELLS, rows: 40, seed: 'compared' })].slice(700);
  const addressed = ({ row_key, column_name, ref_key }: Pick<CellDifference, 'row_key' | 'column_name' | 'ref_key'>) =>
    `${row_key}/${column_name}/${ref_key}`;
  expect(found.map(addressed).toSorted()).toEqual(lost.map(addressed).toSorted());
  expect(found.every(({ created_at }) => created_at !== undefined)).toBe(true);
});

test('unreadable cells are told apart from missing ones, and lines that are no cells are counted', async () => {
  const path = join(folder.path, 'some.ndjson');
  const line = { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name: 'BASE', ref_key: 1, body: {} };
  writeFileSync(path, `${JSON.stringify(line)}\nnonsense\n`);
  const error = new SchemalessError('answer_too_large', 'no answer has room for it');
  const { comparison, found } = await compared(async (keys) => keys.map(() => ({ error })), path);
  expect(comparison).toMatchObject({ compared: 1, unreadable: 1, erased: 0, missing: 0, unanswered: 1 });
  expect(found).toEqual([expect.objectContaining({ difference: 'unanswered' })]);
});
