import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import type { NewCell } from '../../../../shared/cell.ts';
import type { FileProgress, Progress } from '../../../../shared/files/file-progress.ts';
import { shardOf } from '../../../../shared/address.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { until } from '../../../support/until.ts';
import { importTests, SHARDS, storedIn, type Target } from './import-file.ts';

const scene = importTests();
const { importFile, write, some } = scene;
afterEach(() => void vi.restoreAllMocks());

const rejectedLines = (): readonly unknown[] => scene.rejected().map(({ line }) => line);

/**
 * The datastore, but that a shard does not answer, and does so once the others' cells are stored. A minute passes with
 * each of its refusals, and no other time.
 */
function without(shard: number, stored: number): Target {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { datastore } = scene;
  const isDown = ({ row_key }: NewCell): boolean => shardOf(row_key, SHARDS) === shard;
  return {
    ...datastore,
    async batchPut(cells) {
      const left = [...(await datastore.batchPut(cells.filter((cell) => !isDown(cell))))];
      if (cells.every(isDown)) {
        await until('the others are stored', async () => (await storedIn(datastore)) >= stored);
        now += 60_000;
      }
      return cells.map((cell) =>
        isDown(cell) ? { outcome: 'unavailable', shard, reason: 'a test' } : (left.shift() ?? fail()),
      );
    },
  };
}

/** Of these cells, how many are in other shards. */
const besides = (shard: number, cells: readonly NewCell[]): number =>
  cells.filter(({ row_key }) => shardOf(row_key, SHARDS) !== shard).length;

function fail(): never {
  throw new Error('fewer results than cells');
}

test('no reject is lost when the disk is full, and the error is told', async () => {
  write(some(30).flatMap((cell, position) => (position % 3 === 0 ? [cell, 'no JSON'] : [cell])));
  symlinkSync('/dev/full', scene.rejects());
  await expect(importFile()).rejects.toMatchObject({ code: 'ENOSPC' });

  rmSync(scene.rejects());
  const report = await importFile();
  expect(report).toMatchObject({ complete: true, counts: { rejected: 10 } });
  expect(rejectedLines()).toEqual(Array.from({ length: 10 }, (_, position) => 4 * position + 2));
});

test('a shard that does not answer ends the import once the others have stored theirs, and all goes on', async () => {
  const cells = some(1000);
  write(cells);
  const stored = besides(0, cells);
  const requests = { client: without(0, stored), patienceMs: 100_000 };
  await expect(importFile(scene.file, requests)).rejects.toMatchObject({
    code: 'no_progress',
    message: expect.stringContaining('(the last refusal: shard 0: a test)'),
  });
  expect(await storedIn(scene.datastore)).toBe(stored);

  vi.restoreAllMocks();
  expect(await importFile()).toMatchObject({ complete: true });
  expect(await storedIn(scene.datastore)).toBe(cells.length);
});

test('a file of rejects that was cut, or is not of this import, is refused and left as it is', async () => {
  write([...some(20), 'no JSON', 'nor this', ...some(20)]);
  writeFileSync(scene.rejects(), 'my notes\n');
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_option' });
  expect(readFileSync(scene.rejects(), 'utf8')).toBe('my notes\n');

  rmSync(scene.rejects());
  await expect(importFile(scene.file, { maxRejects: 1 })).rejects.toMatchObject({ code: 'too_many_rejects' });
  const whole = readFileSync(scene.rejects());
  writeFileSync(scene.rejects(), whole.subarray(0, 10));
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_journal' });
  expect(statSync(scene.rejects()).size).toBe(10);
  rmSync(scene.rejects());
  await expect(importFile()).rejects.toMatchObject({ code: 'bad_journal' });
  expect(existsSync(scene.rejects())).toBe(false);

  writeFileSync(scene.rejects(), whole);
  expect(await importFile()).toMatchObject({ complete: true, counts: { rejected: 2 } });
  expect(rejectedLines()).toEqual([21, 22]);
});

test('an import without rejects leaves no file of them', async () => {
  write(some(20));
  expect(await importFile()).not.toHaveProperty('rejects');
  expect(existsSync(scene.rejects())).toBe(false);
});

test('a repeated import of a file says so, and is refused if the datastore was recreated', async () => {
  write(some(50));
  expect(await importFile()).not.toHaveProperty('already');
  const again = await importFile();
  expect(again).toMatchObject({ complete: true, already: { stored: 50, rejected: 0 }, counts: { stored: 0 } });
  expect(again).not.toHaveProperty('rejects');
  const client = referenceStore('readings', SHARDS);
  await expect(importFile(scene.file, { client })).rejects.toMatchObject({ code: 'other_import' });
  await expect(importFile(scene.file, { client })).rejects.toMatchObject({
    message: expect.stringContaining('--restart'),
  });
});

test('a file of rejects is named where it is there, also of an import that was done already', async () => {
  write([...some(20), 'no JSON']);
  const counts = { stored: 20, rejected: 1 };
  expect(await importFile()).toMatchObject({ counts, rejects: scene.rejects() });
  const other = `${scene.rejects()}.other`;
  const nothing = { stored: 0, stored_before: 0, buffered: 0, rejected: 0 };
  expect(await importFile(scene.file, { rejectsPath: other })).toMatchObject({
    counts: nothing,
    already: counts,
    rejects: scene.rejects(),
  });
  rmSync(scene.rejects());
  const gone = await importFile();
  expect(gone).toMatchObject({ counts: nothing, already: counts });
  expect(gone).not.toHaveProperty('rejects');
});

test('an interrupted import continues from there, but not in a recreated datastore', async () => {
  const cells = some(3000);
  write(cells);
  const end = new AbortController();
  let batches = 0;
  const { datastore } = scene;
  const client = {
    ...datastore,
    batchPut: async (cells: readonly NewCell[]) => {
      if ((batches += 1) === 4) end.abort();
      return datastore.batchPut(cells);
    },
  };
  const ended = await importFile(scene.file, { client, signal: end.signal, concurrency: 1 });
  expect(ended).toMatchObject({ complete: false });
  expect(batches).toBe(4);
  const again = referenceStore('readings', SHARDS);
  await expect(importFile(scene.file, { client: again })).rejects.toMatchObject({ code: 'other_import' });
  expect(await storedIn(again)).toBe(0);
  expect(await importFile()).toMatchObject({ complete: true, counts: { rejected: 0 } });
  expect(await storedIn(datastore)).toBe(cells.length);
});

test('a file is the same one however its path is typed', async () => {
  write(some(50));
  await importFile();
  const typed = join(dirname(scene.file), '.', basename(scene.file));
  expect(
    await importFile(`${dirname(scene.file)}/../${basename(dirname(scene.file))}/${basename(typed)}`),
  ).toMatchObject({
    already: { stored: 50 },
  });
});

/** Returns a progress bar that records the share of the work at each report. */
function told(): { readonly shares: number[]; readonly progress: FileProgress } {
  const shares: number[] = [];
  const tell = ({ bytes = 0, totalBytes = 0 }: Progress): void => void shares.push(bytes / totalBytes);
  return { shares, progress: { tell, stop: () => undefined } };
}

test.each([
  ['', (text: string) => text],
  ['.gz', (text: string) => gzipSync(text)],
])('progress is what is done, and not what is read, of a file%s', async (ending, packed) => {
  const cells = some(2000, 400);
  write(cells);
  const path = `${scene.file}${ending}`;
  writeFileSync(path, packed(readFileSync(scene.file, 'utf8')));
  const first = told();
  const client = without(0, 1);
  await expect(importFile(path, { client, patienceMs: 100_000, progress: first.progress })).rejects.toMatchObject({
    code: 'no_progress',
  });
  vi.restoreAllMocks();
  expect(Math.max(...first.shares)).toBeGreaterThan(0);
  expect(Math.max(...first.shares)).toBeLessThan(besides(0, cells) / cells.length + 0.05);

  const again = told();
  await importFile(path, { progress: again.progress });
  expect(again.shares.at(-1)).toBe(1);
});
