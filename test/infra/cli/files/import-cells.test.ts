import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readJournal } from '../../../../infra/cli/files/import/journal.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import type { Cell, NewCell, PutResult, RestoredCell } from '../../../../shared/cell.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { Random } from '../../../support/random.ts';
import { encoded } from './csv-property.ts';
import { importTests, SHARDS, type Target } from './import-file.ts';

const scene = importTests();
const { importFile, write, some, rejected } = scene;

async function logged(): Promise<readonly Cell[]> {
  const locations = Array.from({ length: SHARDS }, (_, shard) => ({ shard, after: 0 }));
  const logs = await scene.datastore.log(locations, { limit: 1000 });
  return logs.flatMap((log) => ('cells' in log ? log.cells : []));
}

function byRow(cells: readonly NewCell[]): ReadonlyMap<string, readonly object[]> {
  const rows = new Map<string, object[]>();
  for (const { row_key, ref_key, body } of cells) rows.set(row_key, [...(rows.get(row_key) ?? []), { ref_key, body }]);
  return rows;
}

/** The datastore, but that batches are put so. */
const putting = (batchPut: Datastore['batchPut']): Target => ({ ...scene.datastore, batchPut });

interface Refusing extends Target {
  /** Batches that were not stored, and those whose answer got lost. */
  readonly refused: { before: number; after: number };
}

/** The datastore, but that some batches are not stored, and the answers of some that are get lost. */
function refusing(): Refusing {
  const random = new Random('import', 'refusals', 0);
  const refused = { before: 0, after: 0 };
  return {
    refused,
    ...scene.datastore,
    async batchPut(cells): Promise<readonly PutResult[]> {
      const chance = random.next();
      const unavailable = cells.map((): PutResult => ({ outcome: 'unavailable', shard: 0, reason: 'a test' }));
      if (chance < 0.3) refused.before += 1;
      else if (chance < 0.4) refused.after += 1;
      if (chance < 0.3) return unavailable;
      const results = await scene.datastore.batchPut(cells);
      return chance < 0.4 ? unavailable : results;
    },
  };
}

test('stores each line once, and the lines of a row in their order, while batches are refused', async () => {
  const cells = some(3000);
  write(cells);
  const client = refusing();

  const report = await importFile(scene.file, { client });

  expect(client.refused.before).toBeGreaterThan(0);
  expect(client.refused.after).toBeGreaterThan(0);
  expect(report.complete).toBe(true);
  expect(report.counts.stored + report.counts.stored_before).toBe(cells.length);
  expect(byRow(await logged())).toEqual(byRow(cells));
});

test('says of each line that is not stored which it is and why, and stores the others', async () => {
  const [first, second, third, fourth] = some(4, 4) as [NewCell, NewCell, NewCell, NewCell];
  write([
    first,
    '',
    '{"row_key": ',
    { ...second, row_key: 'trip 17' },
    second,
    { ...first, body: 'another' },
    { ...third, colum_name: 'READING' },
    { ...third, body: 'x'.repeat(1024 * 1024) },
    { ...third, erased: true },
    third,
    { ...fourth, ref_key: undefined },
  ]);

  const report = await importFile();

  expect(report.counts).toEqual({ stored: 3, stored_before: 0, buffered: 0, skipped: 1, rejected: 7 });
  expect(rejected().map(({ line, code, field }) => ({ line, code, field }))).toEqual([
    { line: 3, code: 'invalid_json', field: 'line' },
    { line: 4, code: 'invalid_field', field: 'row_key' },
    { line: 6, code: 'conflict', field: undefined },
    { line: 7, code: 'unknown_field', field: 'colum_name' },
    { line: 8, code: 'body_too_large', field: 'body' },
    { line: 9, code: 'erased', field: undefined },
    { line: 11, code: 'missing_field', field: 'ref_key' },
  ]);
  expect(rejected()[1]).toMatchObject({ reason: expect.stringContaining('got "trip 17"'), file: '2.ndjson' });
});

test('ends where more lines are rejected than may be, and goes on with a higher number, telling each once', async () => {
  const cells = some(50);
  write(cells.flatMap((cell, position) => (position % 5 === 0 ? [cell, 'no JSON'] : [cell])));

  await expect(importFile(scene.file, { maxRejects: 3 })).rejects.toMatchObject({ code: 'too_many_rejects' });
  // The fourth is in line 20, and nothing behind it was sent.
  expect(rejected().map(({ line }) => line)).toEqual([2, 8, 14, 20]);
  expect(await logged()).toHaveLength(16);
  await expect(importFile(scene.file, { maxRejects: 3 })).rejects.toMatchObject({ code: 'too_many_rejects' });
  expect(await logged()).toHaveLength(16);
  const report = await importFile(scene.file, { maxRejects: 10 });

  expect(report).toMatchObject({ complete: true, counts: { rejected: 10 } });
  expect(rejected()).toHaveLength(10);
  expect(byRow(await logged())).toEqual(byRow(cells));
});

test('refuses to go on with a file that is another one by now, and with another datastore', async () => {
  write(some(20));
  await importFile();

  const { sources: _, ...input } = await openInput(scene.file, {});
  const subject = { url: 'elsewhere', datastore: 'readings', inputs: input.fingerprints, reading: input.reading };
  await expect(readJournal(`${scene.file}.import-journal`, subject)).rejects.toMatchObject({ code: 'other_import' });

  write(some(21));
  await expect(importFile()).rejects.toMatchObject({
    code: 'changed_input',
    message: expect.stringContaining('--restart'),
  });

  // Format 1 counted other items of a CSV.
  const journal = readFileSync(`${scene.file}.import-journal`, 'utf8');
  writeFileSync(`${scene.file}.import-journal`, journal.replace(/"format":\d+/u, '"format":1'));
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_journal' });
});

test('counts what is buffered as stored', async () => {
  write(some(10));
  const client = putting(async (cells) => cells.map(() => ({ outcome: 'buffered', shard: 0, copies: 2 })));
  expect(await importFile(scene.file, { client })).toMatchObject({ complete: true, counts: { buffered: 10 } });
});

test('gives lines without a ref key the number of the line, from packed files, too', async () => {
  const [cell] = some(1) as [NewCell];
  const lines = ['one', 'two'].map((body) => JSON.stringify({ row_key: cell.row_key, column_name: 'NOTES', body }));
  scene.file += '.gz';
  writeFileSync(scene.file, gzipSync(`${lines.join('\n')}`));

  await importFile(scene.file, { defaultRefKey: 'line' });

  expect((await logged()).map(({ ref_key, body }) => ({ ref_key, body }))).toEqual([
    { ref_key: 1, body: 'one' },
    { ref_key: 2, body: 'two' },
  ]);
});

test.each(['utf8-marked', 'utf16le', 'utf16be'])(
  'stores every line of %s, also after it was interrupted',
  async (kind) => {
    const cells = some(40);
    const lines = cells.map((cell, at) => `${JSON.stringify(cell)}${['\n', '\r\n', '\r'][at % 3]}`);
    lines.splice(20, 0, 'no JSON\n');
    writeFileSync(scene.file, encoded(lines.join(''), kind));
    await expect(importFile(scene.file, { maxRejects: 0 })).rejects.toMatchObject({ code: 'too_many_rejects' });
    expect(await importFile()).toMatchObject({ complete: true, counts: { stored: 40, rejected: 1 } });
    expect(rejected()).toMatchObject([{ line: 21, last_line: 21, text: 'no JSON' }]);
    expect(byRow(await logged())).toEqual(byRow(cells));
  },
);

test('refuses a file that is no UTF-16, though its first bytes say so', async () => {
  writeFileSync(scene.file, Buffer.concat([encoded(JSON.stringify(some(1)[0]), 'utf16le'), Buffer.from([0x7b])]));
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_input', message: expect.stringContaining('UTF-16') });
});

/** A second apart, years ago; each line says more than the microseconds that are kept. */
function timed(cells: readonly NewCell[]): readonly RestoredCell[] {
  return cells.map((cell, position) => ({
    ...cell,
    created_at: new Date(Date.UTC(2021, 0, 1, 0, 0, position)).toISOString().replace('Z', '456999+00:00'),
  }));
}

const keptOf = (cells: readonly RestoredCell[]): readonly string[] =>
  cells.map(({ created_at }) => created_at.replace('999+00:00', 'Z')).toSorted();

const times = async (): Promise<readonly string[]> => (await logged()).map(({ created_at }) => created_at).toSorted();

test('keeps the times of lines where it is told to', async () => {
  const cells = timed(some(300));
  write([...cells, { ...cells[0], ref_key: 1_000_000, created_at: undefined }, { ...cells[1], created_at: 'then' }]);

  const report = await importFile(scene.file, { times: 'kept' });

  expect(report).toMatchObject({ complete: true, counts: { stored: 300, rejected: 2 } });
  expect(rejected()).toEqual([
    expect.objectContaining({ line: 301, code: 'missing_field', field: 'created_at' }),
    expect.objectContaining({ line: 302, code: 'invalid_field', field: 'created_at' }),
  ]);
  expect(await times()).toEqual(keptOf(cells));
});

test('keeps the time that a mapping names, and says where it is none', async () => {
  const csv = scene.file.replace('.ndjson', '.csv');
  const mapping = `${csv}.yaml`;
  const rows = timed(some(3, 3));
  writeFileSync(
    csv,
    [
      'id,at',
      ...rows.map(({ row_key, created_at }) => `${row_key},${created_at}`),
      `${rows[0]?.row_key},soon`,
      '',
    ].join('\n'),
  );
  const text = 'row_key: { column: id }\ncolumn_name: READING\nref_key: line\nbody: {}\n';
  writeFileSync(mapping, text);
  await expect(importFile(csv, { mapping, times: 'kept' })).rejects.toMatchObject({
    code: 'bad_mapping',
    message: expect.stringContaining('created_at'),
  });
  writeFileSync(mapping, `${text}created_at: { column: at }\n`);

  const report = await importFile(csv, { mapping, times: 'kept' });

  expect(report).toMatchObject({ counts: { stored: 3, rejected: 1 } });
  expect(rejected(csv)).toEqual([expect.objectContaining({ code: 'csv_value', field: 'at' })]);
  expect(await times()).toEqual(keptOf(rows));
});

test('says what to do where the caller lacks the right, and stores nothing', async () => {
  const error = new SchemalessError('internal', 'Answered 403 : Forbidden', { more: { answered: 403 } });
  write(timed(some(3)));
  const client = { ...scene.datastore, batchRestore: () => Promise.reject(error) };

  await expect(importFile(scene.file, { client, times: 'kept' })).rejects.toMatchObject({
    code: 'times_refused',
    ending: 'denied',
    message: expect.stringMatching(/operators.*--new-times/u),
  });
  expect(await times()).toEqual([]);
  expect(await importFile(scene.file, { client, times: 'new' })).toMatchObject({ counts: { stored: 3 } });
});

test('goes on only in the way in which it began: with times, or without', async () => {
  write(timed(some(3)));
  await importFile(scene.file, { times: 'kept' });
  await expect(importFile(scene.file, {})).rejects.toMatchObject({ code: 'other_import' });
});
