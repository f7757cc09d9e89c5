import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportCells } from '../../../../shared/files/export-cells.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { importCells, type ImportOptions, type ImportReport } from '../../../../infra/cli/files/import/import-cells.ts';
import { newJournal, readJournal } from '../../../../infra/cli/files/import/journal.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import type { NewCell } from '../../../../shared/cell.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { FileProgress, Progress } from '../../../../shared/files/file-progress.ts';
import { shardOf } from '../../../../shared/address.ts';
import { referenceStore } from '../../../../shared/store/reference-store.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const SHARDS = 4;
const folder = folderOfTests();
let datastore: Datastore;
let file: string;
let count = 0;

beforeEach(() => {
  count += 1;
  file = join(folder.path, `${count}.ndjson`);
  datastore = referenceStore('readings', SHARDS);
});
afterEach(() => vi.restoreAllMocks());

interface Wishes extends Partial<ImportOptions> {
  readonly client?: Pick<Datastore, 'batchPut' | 'batchRestore' | 'heads'>;
}

/** As the command does it. */
async function importFile(path = file, { client = datastore, ...wishes }: Wishes = {}): Promise<ImportReport> {
  const { sources, fingerprints, reading } = await openInput(path, {});
  const subject = { url: 'here', datastore: 'readings', inputs: fingerprints, reading };
  const journalPath = `${path}.import-journal`;
  const journal = (await readJournal(journalPath, subject)) ?? newJournal(subject);
  return importCells(client, { sources, journal, journalPath, rejectsPath: rejectsOf(path), ...wishes });
}

const rejectsOf = (path = file): string => `${path}.rejects.ndjson`;
const rejectedLines = (): readonly number[] =>
  readFileSync(rejectsOf(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { line: number }).line);

function write(cells: readonly (NewCell | string)[]): void {
  writeFileSync(file, cells.map((cell) => `${typeof cell === 'string' ? cell : JSON.stringify(cell)}\n`).join(''));
}

function some(cells: number, rows = 40): readonly NewCell[] {
  return [...readings({ cells, rows, seed: `promises ${count}` })];
}

async function storedIn(store: Datastore): Promise<number> {
  return (await store.heads()).reduce((sum, head) => sum + (head.error === undefined ? head.head : 0), 0);
}

/** The datastore, but that a shard does not answer. */
function without(
  shard: number,
  called: () => void = () => undefined,
): Pick<Datastore, 'batchPut' | 'batchRestore' | 'heads'> {
  return {
    ...datastore,
    async batchPut(cells) {
      called();
      const isDown = ({ row_key }: NewCell): boolean => shardOf(row_key, SHARDS) === shard;
      const results = await datastore.batchPut(cells.filter((cell) => !isDown(cell)));
      const left = [...results];
      return cells.map((cell) =>
        isDown(cell) ? { outcome: 'unavailable', shard, reason: 'a test' } : (left.shift() ?? fail()),
      );
    },
  };
}

function fail(): never {
  throw new Error('fewer results than cells');
}

test('no reject is lost when the disk is full, and the error is told', async () => {
  write(some(30).flatMap((cell, position) => (position % 3 === 0 ? [cell, 'no JSON'] : [cell])));
  symlinkSync('/dev/full', rejectsOf());
  await expect(importFile()).rejects.toMatchObject({ code: 'ENOSPC' });

  rmSync(rejectsOf());
  const report = await importFile();
  expect(report).toMatchObject({ complete: true, counts: { rejected: 10 } });
  expect(rejectedLines()).toEqual(Array.from({ length: 10 }, (_, position) => 4 * position + 2));
});

test('what is rejected while the rest is stored ends the import at once, when the disk is full', async () => {
  const cells = some(400);
  write(['no JSON', ...cells]);
  symlinkSync('/dev/full', rejectsOf());
  // A shard that never answers: only the failure can end it.
  await expect(importFile(file, { client: without(0) })).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('a shard that does not answer holds back only so many lines behind it', async () => {
  const cells = some(20_000);
  write(cells);
  const client = without(0);
  const mostBegun = { items: 500, bytes: 2 ** 30 };
  await expect(importFile(file, { client, mostBegun, patienceMs: 300 })).rejects.toMatchObject({ code: 'no_progress' });
  // The file is read in pieces of some 900 lines.
  expect(await storedIn(datastore)).toBeLessThan(3000);

  expect(await importFile()).toMatchObject({ complete: true });
  expect(await storedIn(datastore)).toBe(cells.length);
});

test('what is stored behind a shard that does not answer is not sent again', async () => {
  const cells = some(4000);
  write(cells);
  await expect(importFile(file, { client: without(0), patienceMs: 300 })).rejects.toMatchObject({
    code: 'no_progress',
  });
  const stored = await storedIn(datastore);
  expect(stored).toBeGreaterThan(500);

  const sent: NewCell[] = [];
  const client = {
    ...datastore,
    batchPut: (some: readonly NewCell[]) => (sent.push(...some), datastore.batchPut(some)),
  };
  expect(await importFile(file, { client })).toMatchObject({ complete: true, counts: { stored: cells.length } });
  expect(sent).toHaveLength(cells.length - stored);
  expect(await storedIn(datastore)).toBe(cells.length);
});

test('nor is it taken to be there where the datastore was made again', async () => {
  // Nothing comes before the first that is not stored.
  write(some(4000).toSorted((a, b) => shardOf(a.row_key, SHARDS) - shardOf(b.row_key, SHARDS)));
  const client = without(0);
  await expect(importFile(file, { client, patienceMs: 300 })).rejects.toMatchObject({ code: 'no_progress' });
  const again = referenceStore('readings', SHARDS);
  await expect(importFile(file, { client: again })).rejects.toMatchObject({ code: 'other_import' });
  expect(await storedIn(again)).toBe(0);
});

test('a shard that does not answer ends the import although others do', async () => {
  write(some(4000));
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const client = without(0, () => (now += 10_000));
  await expect(importFile(file, { client, concurrency: 1, patienceMs: 60_000 })).rejects.toMatchObject({
    code: 'no_progress',
    message: expect.stringContaining('shard 0'),
  });
});

test('a file of rejects that was cut, or is not of this import, is refused and left as it is', async () => {
  write([...some(20), 'no JSON', 'nor this', ...some(20)]);
  writeFileSync(rejectsOf(), 'my notes\n');
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_option' });
  expect(readFileSync(rejectsOf(), 'utf8')).toBe('my notes\n');

  rmSync(rejectsOf());
  await expect(importFile(file, { maxRejects: 1 })).rejects.toMatchObject({ code: 'too_many_rejects' });
  const whole = readFileSync(rejectsOf());
  writeFileSync(rejectsOf(), whole.subarray(0, 10));
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_journal' });
  expect(statSync(rejectsOf()).size).toBe(10);
  rmSync(rejectsOf());
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_journal' });
  expect(existsSync(rejectsOf())).toBe(false);

  writeFileSync(rejectsOf(), whole);
  expect(await importFile()).toMatchObject({ complete: true, counts: { rejected: 2 } });
  expect(rejectedLines()).toEqual([21, 22]);
});

test('an import without rejects leaves no file of them', async () => {
  write(some(20));
  expect(await importFile()).not.toHaveProperty('rejects');
  expect(existsSync(rejectsOf())).toBe(false);
});

test('a file that was imported already is said to be, and is not done where the datastore was made again', async () => {
  write(some(50));
  expect(await importFile()).not.toHaveProperty('already');
  const again = await importFile();
  expect(again).toMatchObject({ complete: true, already: { stored: 50, rejected: 0 }, counts: { stored: 0 } });
  expect(again).not.toHaveProperty('rejects');
  const client = referenceStore('readings', SHARDS);
  await expect(importFile(file, { client })).rejects.toMatchObject({ code: 'other_import' });
  await expect(importFile(file, { client })).rejects.toMatchObject({ message: expect.stringContaining('--restart') });
});

test('a file of rejects is named where it is there, also of an import that was done already', async () => {
  write([...some(20), 'no JSON']);
  const counts = { stored: 20, rejected: 1 };
  expect(await importFile()).toMatchObject({ counts, rejects: rejectsOf() });
  const other = `${rejectsOf()}.other`;
  const nothing = { stored: 0, stored_before: 0, buffered: 0, rejected: 0 };
  expect(await importFile(file, { rejectsPath: other })).toMatchObject({
    counts: nothing,
    already: counts,
    rejects: rejectsOf(),
  });
  rmSync(rejectsOf());
  const gone = await importFile();
  expect(gone).toMatchObject({ counts: nothing, already: counts });
  expect(gone).not.toHaveProperty('rejects');
});

test('half an import is not gone on with in a datastore that was made again', async () => {
  write(some(3000));
  const end = new AbortController();
  let batches = 0;
  const client = without(-1, () => (batches += 1) === 4 && end.abort());
  await importFile(file, { client, signal: end.signal, concurrency: 1 });
  const again = referenceStore('readings', SHARDS);
  await expect(importFile(file, { client: again })).rejects.toMatchObject({ code: 'other_import' });
  expect(await storedIn(again)).toBe(0);
});

test('a file is the same one however its path is typed', async () => {
  write(some(50));
  await importFile();
  const typed = join(dirname(file), '.', basename(file));
  expect(await importFile(`${dirname(file)}/../${basename(dirname(file))}/${basename(typed)}`)).toMatchObject({
    already: { stored: 50 },
  });
});

/** An export in two parts, not packed; returns its folder. */
async function exported(): Promise<string> {
  const from = { ...datastore, indexes: async () => [] };
  const place = join(folder.path, `export-${count}`);
  for (let part = 0; part < 3; part += 1) {
    for (const cell of some(200).map((one) => ({ ...one, column_name: `PART${part}` }))) await datastore.put(cell);
    await exportCells(from, { target: folderTarget(place), format: 'ndjson', compression: 'none', sinceLast: true });
  }
  return place;
}

test('an export of which a part, a file, or the end of one is gone is refused before anything is stored', async () => {
  const place = await exported();
  const path = join(place, 'part-0002/0001.ndjson');
  const good = readFileSync(path);
  const client = referenceStore('readings', SHARDS);
  const refused = async (what: string): Promise<void> => {
    await expect(importFile(place, { client })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining(what),
    });
    expect(await storedIn(client)).toBe(0);
  };
  writeFileSync(path, good.subarray(0, good.lastIndexOf(10, good.length - 2) + 1));
  await refused(`0001.ndjson: wanted ${good.length} bytes`);
  rmSync(path);
  await refused('got no file');
  rmSync(join(place, 'part-0002'), { recursive: true });
  await refused('part-0003: shard 0: wanted cells after');
});

test('an export of which a file has another content is told at the end, and never called complete', async () => {
  const place = await exported();
  const path = join(place, 'part-0002/0001.ndjson');
  writeFileSync(path, readFileSync(path, 'utf8').replace('kWh', 'MWh'));
  const client = referenceStore('readings', SHARDS);
  for (let time = 0; time < 2; time += 1) {
    await expect(importFile(place, { client })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('0001.ndjson: wanted the SHA-256'),
    });
    expect(await storedIn(client)).toBe(600);
  }
});

test('an export that is whole is imported whole', async () => {
  const client = referenceStore('readings', SHARDS);
  expect(await importFile(await exported(), { client })).toMatchObject({ complete: true, counts: { stored: 600 } });
});

/** What is told of progress, each time the share that is done. */
function told(): { readonly shares: number[]; readonly progress: FileProgress } {
  const shares: number[] = [];
  const tell = ({ bytes = 0, totalBytes = 0 }: Progress): void => void shares.push(bytes / totalBytes);
  return { shares, progress: { tell, stop: () => undefined } };
}

test.each([
  ['', (text: string) => text],
  ['.gz', (text: string) => gzipSync(text)],
])('progress is what is done, not what is read, and goes on where it was, of a file%s', async (ending, packed) => {
  const cells = some(4000, 400);
  write(cells);
  const path = `${file}${ending}`;
  writeFileSync(path, packed(readFileSync(file, 'utf8')));
  const first = told();
  await expect(
    importFile(path, { client: without(0), patienceMs: 700, progress: first.progress }),
  ).rejects.toMatchObject({ code: 'no_progress' });
  const share = (await storedIn(datastore)) / cells.length;
  expect(share).toBeLessThan(0.9);
  expect(first.shares.at(-1)).toBeCloseTo(share, 1);
  expect(Math.max(...first.shares)).toBeLessThan(share + 0.05);

  // Nothing is stored until all has been read, and what was done before is found done.
  const again = told();
  const isWhereItWas = vi.waitUntil(() => Math.abs((again.shares.at(-1) ?? 0) - share) < 0.05, { timeout: 5000 });
  const client = {
    ...datastore,
    batchPut: async (some: readonly NewCell[]) => (await isWhereItWas, datastore.batchPut(some)),
  };
  await importFile(path, { client, progress: again.progress });
  expect(again.shares.at(-1)).toBe(1);
});
