import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { writeDurably } from '../../../../infra/cli/files/write-durably.ts';
import type { NewCell } from '../../../../shared/cell.ts';
import type { FileProgress, Progress } from '../../../../shared/files/file-progress.ts';
import { shardOf } from '../../../../shared/address.ts';
import { referenceStore } from '../../../../shared/store/reference-store.ts';
import { until } from '../../../support/until.ts';
import { importTests, SHARDS, storedIn, type Target } from './import-file.ts';

const scene = importTests();
const { importFile, write, some } = scene;
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const rejectedLines = (): readonly unknown[] => scene.rejected().map(({ line }) => line);

/**
 * The datastore, but that a shard does not answer. A minute passes with each of its refusals, and no other time.
 *
 * @param stored it refuses once so many cells of the others are stored, or no more of them are. @default at once
 */
function without(shard: number, stored: number | 'no more' = 0): Target {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { datastore } = scene;
  const isDown = ({ row_key }: NewCell): boolean => shardOf(row_key, SHARDS) === shard;
  let [last, polls] = [0, 0];
  const isStored = async (): Promise<boolean> => {
    const count = await storedIn(datastore);
    polls = count === last ? polls + 1 : 0;
    last = count;
    return stored === 'no more' ? polls > 20 : count >= stored;
  };
  return {
    ...datastore,
    async batchPut(cells) {
      const left = [...(await datastore.batchPut(cells.filter((cell) => !isDown(cell))))];
      // A batch that has others' cells holds them back until it is answered.
      if (cells.every(isDown)) await until('the others are stored', isStored);
      if (stored === 0 ? cells.some(isDown) : cells.every(isDown)) now += 60_000;
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

test('what is rejected while the rest is stored ends the import at once, when the disk is full', async () => {
  const cells = some(400);
  write(['no JSON', ...cells]);
  symlinkSync('/dev/full', scene.rejects());
  // A shard that never answers: only the failure can end it.
  await expect(importFile(scene.file, { client: without(0) })).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('a shard that does not answer holds back only so many lines behind it', async () => {
  const cells = some(8000);
  write(cells);
  const client = without(0, 'no more');
  const mostBegun = { items: 500, bytes: 2 ** 30 };
  await expect(importFile(scene.file, { client, mostBegun, patienceMs: 100_000 })).rejects.toMatchObject({
    code: 'no_progress',
  });
  // The file is read in pieces of some 900 lines.
  expect(await storedIn(scene.datastore)).toBeLessThan(3000);

  expect(await importFile()).toMatchObject({ complete: true });
  expect(await storedIn(scene.datastore)).toBe(cells.length);
});

test('what is stored behind a shard that does not answer is not sent again', async () => {
  const cells = some(2000);
  write(cells);
  const stored = besides(0, cells);
  await expect(importFile(scene.file, { client: without(0, stored), patienceMs: 100_000 })).rejects.toMatchObject({
    code: 'no_progress',
  });
  expect(await storedIn(scene.datastore)).toBe(stored);

  const sent: NewCell[] = [];
  const client = {
    ...scene.datastore,
    batchPut: (some: readonly NewCell[]) => (sent.push(...some), scene.datastore.batchPut(some)),
  };
  expect(await importFile(scene.file, { client })).toMatchObject({ complete: true, counts: { stored: cells.length } });
  expect(sent).toHaveLength(cells.length - stored);
  expect(await storedIn(scene.datastore)).toBe(cells.length);
});

test('nor is it taken to be there where the datastore was made again', async () => {
  // Nothing comes before the first that is not stored.
  const cells = some(1000).toSorted((a, b) => shardOf(a.row_key, SHARDS) - shardOf(b.row_key, SHARDS));
  write(cells);
  const client = without(0, besides(0, cells));
  await expect(importFile(scene.file, { client, patienceMs: 100_000 })).rejects.toMatchObject({ code: 'no_progress' });
  const again = referenceStore('readings', SHARDS);
  await expect(importFile(scene.file, { client: again })).rejects.toMatchObject({ code: 'other_import' });
  expect(await storedIn(again)).toBe(0);
});

test('a shard that does not answer ends the import although others do', async () => {
  write(some(1000));
  const wishes = { client: without(0), concurrency: 1, patienceMs: 100_000 };
  await expect(importFile(scene.file, wishes)).rejects.toMatchObject({
    code: 'no_progress',
    message: expect.stringContaining('shard 0'),
  });
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

test('a file that was imported already is said to be, and is not done where the datastore was made again', async () => {
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

test('half an import is not gone on with in a datastore that was made again', async () => {
  write(some(3000));
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
  await importFile(scene.file, { client, signal: end.signal, concurrency: 1 });
  const again = referenceStore('readings', SHARDS);
  await expect(importFile(scene.file, { client: again })).rejects.toMatchObject({ code: 'other_import' });
  expect(await storedIn(again)).toBe(0);
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
  const cells = some(2000, 400);
  write(cells);
  const path = `${scene.file}${ending}`;
  writeFileSync(path, packed(readFileSync(scene.file, 'utf8')));
  const first = told();
  const client = without(0, besides(0, cells));
  await expect(importFile(path, { client, patienceMs: 100_000, progress: first.progress })).rejects.toMatchObject({
    code: 'no_progress',
  });
  vi.restoreAllMocks();
  const share = besides(0, cells) / cells.length;
  expect(first.shares.at(-1)).toBeCloseTo(share, 1);
  expect(Math.max(...first.shares)).toBeLessThan(share + 0.05);

  // Nothing is stored until all has been read, and what was done before is found done.
  const again = told();
  const isWhereItWas = until('it is where it was', () => Math.abs((again.shares.at(-1) ?? 0) - share) < 0.05);
  const waiting = {
    ...scene.datastore,
    batchPut: async (some: readonly NewCell[]) => (await isWhereItWas, scene.datastore.batchPut(some)),
  };
  await importFile(path, { client: waiting, progress: again.progress });
  expect(again.shares.at(-1)).toBe(1);
});

test('checkpoints of an import do not pile up on a disk that is slow to flush', async () => {
  const [flushMs, storedMs, stepMs] = [250, 3000, 150];
  write(some(50));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  let written = 0;
  // Told with each checkpoint, which so takes that long.
  const tell = (): void => {
    written += 1;
    vi.advanceTimersByTime(flushMs);
  };
  const { datastore } = scene;
  const client: Target = {
    ...datastore,
    async batchPut(cells) {
      for (let passed = 0; passed < storedMs; passed += stepMs) {
        await vi.advanceTimersByTimeAsync(stepMs);
        // As long as a checkpoint that began takes on this disk.
        for (let time = 0; time < 2; time += 1) await writeDurably(`${scene.file}.other`, '');
      }
      return datastore.batchPut(cells);
    },
  };
  const progress = { tell, stop: () => undefined };
  expect(await importFile(scene.file, { client, progress })).toMatchObject({ counts: { stored: 50 } });
  // One as it begins, one under way at most, and the last: one each 150 ms would be twelve.
  expect(written).toBeLessThanOrEqual(4);
});
