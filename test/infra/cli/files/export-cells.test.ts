import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { importCells, type ImportReport } from '../../../../infra/cli/files/import/import-cells.ts';
import { newJournal } from '../../../../infra/cli/files/import/journal.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import { digestLog } from '../../../../infra/cli/log/digest-log.ts';
import { readKnownDigests } from '../../../../infra/cli/commands/digest.ts';
import type { Cell } from '../../../../shared/cell.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { CELLS, exportTests, logOf, SHARDS } from './export-files.ts';

const OTHER_SHARDS = 3;
const scene = exportTests();
const { exported, source, reading, write, check, manifest, lines: linesOf } = scene;

/** Imports the export, as the command does. */
async function importInto(datastore: Datastore, times?: 'new'): Promise<ImportReport> {
  const { sources, areTimesKept } = await openInput(scene.target, { times });
  const journal = newJournal({ url: '', datastore: '', inputs: [], reading: {} });
  return importCells(datastore, { sources, areTimesKept, journal, rejectsPath: `${scene.target}.rejects` });
}

/** Returns the fields of each line; the shard is that of the file. */
function linesOfLog(log: readonly Cell[]): readonly object[] {
  return log.map(({ row_key, column_name, ref_key, body, added_id, created_at }) => ({
    row_key,
    column_name,
    ref_key,
    body,
    added_id,
    created_at,
  }));
}

test('an export holds the logs as they are; imported into an empty datastore, all is as it was, times included', async () => {
  const report = await exported();

  const log = await logOf(scene.datastore);
  expect(report).toMatchObject({ part: 'part-0001', cells: log.length, complete: true });
  expect(linesOf()).toEqual(linesOfLog(log));
  expect(readdirSync(join(scene.target, 'part-0001')).filter((name) => name.startsWith('_'))).toEqual([
    '_manifest.json',
  ]);
  expect(await check()).toMatchObject({ cells: log.length, faults: [] });

  const copies = referenceStore('copies', SHARDS);
  const imported = await importInto(copies);
  expect(imported).toMatchObject({ counts: { stored: log.length } });
  expect(await logOf(copies)).toEqual(log);
  const before = linesOf();
  scene.target += '-again';
  await exported({}, source([], copies));
  expect(linesOf()).toEqual(before);
});

test('imported where the number of shards is another, each shard is in order of time, and the cells of a row have theirs', async () => {
  await exported();
  const others = referenceStore('others', OTHER_SHARDS);
  const log = await logOf(scene.datastore);

  const { counts } = await importInto(others);

  expect(counts).toMatchObject({ stored: log.length, rejected: 0 });
  const found = await logOf(others, OTHER_SHARDS);
  const given = new Map(log.map((cell) => [`${cell.row_key}/${cell.ref_key}`, cell.created_at]));
  const timeOf = ({ row_key, ref_key }: Cell): string => given.get(`${row_key}/${ref_key}`) ?? '';
  expect(found.filter((cell) => cell.created_at < timeOf(cell))).toEqual([]);
  for (const [, cells] of Map.groupBy(found, ({ shard }) => shard))
    expect(cells.map(({ created_at }) => created_at)).toEqual(cells.map(({ created_at }) => created_at).toSorted());
});

test('imported with the time of now where that is asked for', async () => {
  await exported();
  const began = new Date().toISOString();
  const fresh = referenceStore('fresh', SHARDS);
  const report = await importInto(fresh, 'new');
  const all = await logOf(fresh);
  expect(all).toHaveLength(report.counts.stored);
  expect(all.filter(({ created_at }) => created_at < began)).toEqual([]);
});

test('the next part holds what came since, and nothing is written when nothing did', async () => {
  await exported({ sinceLast: true });
  await write(300);

  expect(await exported({ sinceLast: true })).toMatchObject({ part: 'part-0002', cells: 300 });
  expect(await exported({ sinceLast: true })).toMatchObject({ part: undefined, cells: 0 });

  expect(linesOf('part-0002')).toHaveLength(300);
  expect(await check()).toMatchObject({ cells: CELLS + 300, faults: [] });
});

test('each part says the digests of the logs as far as it goes: those of the store, and of a store that imported it', async () => {
  await exported({ sinceLast: true });
  await write(200);
  await exported({ sinceLast: true });
  const known = await readKnownDigests(scene.target);
  expect(known.map(({ shard }) => shard)).toEqual([0, 1, 2, 3]);
  const again = referenceStore('again', SHARDS);
  await importInto(again);
  for (const datastore of [scene.datastore, again])
    for (const { shard, at, digest } of known)
      expect(await digestLog(datastore, { shard, at })).toMatchObject({ at, digest });
  expect(known.reduce((sum, { at }) => sum + at, 0)).toBe((await logOf(scene.datastore)).length);
});

test('of a part behind one that does not say them there are none, and all else is as it was', async () => {
  await exported({ sinceLast: true });
  manifest('part-0001', (text) => text.replaceAll(/,\s*"(?:after|to)_digest": "\w+"/gu, ''));
  await write(100);
  await exported({ sinceLast: true });
  expect((await check())?.faults).toEqual([]);
  await expect(readKnownDigests(scene.target)).rejects.toThrow(`got ${scene.target}, which lists none`);
});

test('a whole export is not written over another one, nor gone on with in another format', async () => {
  await exported();
  await expect(exported()).rejects.toMatchObject({ code: 'other_export' });
  await expect(exported({ sinceLast: true, format: 'parquet' })).rejects.toMatchObject({ code: 'other_export' });
});

test('an export records whether sealed fields are opened, the same for all its parts', async () => {
  await exported();
  await expect(exported({ sinceLast: true, opened: true })).rejects.toMatchObject({ code: 'other_export' });
  expect(manifest('part-0001')).not.toHaveProperty('opened');
  scene.target += '-opened';
  await exported({ opened: true });
  await write(100);
  await expect(exported({ sinceLast: true })).rejects.toThrow(
    /wanted sealed fields as they are stored, got them opened/u,
  );
  await exported({ sinceLast: true, opened: true });
  for (const part of ['part-0001', 'part-0002']) expect(manifest(part)).toMatchObject({ opened: true });
});

test('it ends where the logs ended when it began', async () => {
  const before = (await logOf(scene.datastore)).length;
  let isWritten = false;
  const from = reading(async (read, ...asked) => {
    if (!isWritten) await write(200);
    isWritten = true;
    return read(...asked);
  });
  await exported({}, from);
  expect(linesOf()).toHaveLength(before);
  expect(await check()).toMatchObject({ faults: [] });
});

test('a shard that had no room in an answer, failed, or was at a hole is asked again', async () => {
  let asked = 0;
  const from = reading(async (read, locations, options) => {
    asked += 1;
    return (await read(locations, options)).map((log, at) =>
      log.error === undefined && (asked + at) % 2 === 0
        ? { ...log, cells: [], next: locations[at]?.after ?? 0, more: asked % 3 > 0 }
        : log,
    );
  });
  await exported({}, from);
  expect(linesOf()).toEqual(linesOfLog(await logOf(scene.datastore)));
});

test('ended in the middle it goes on, and is what it would have been', async () => {
  const end = new AbortController();
  const from = reading(async (read, locations, options) => {
    // A few cells at a time, so that something is complete before the end, and something is not.
    const logs = await read(locations.slice(0, 1), { ...options, limit: 1000 });
    if (existsSync(join(scene.target, 'part-0001/0000.ndjson.gz'))) end.abort();
    return [...logs, ...locations.slice(1).map(({ shard, after = 0 }) => emptyLog(shard, after))];
  });
  const cut = await exported({ signal: end.signal }, from);
  expect(cut).toMatchObject({ complete: false });
  await expect(check()).rejects.toMatchObject({ code: 'bad_input' });

  await exported();
  expect(linesOf()).toEqual(linesOfLog(await logOf(scene.datastore)));
  expect(await check()).toMatchObject({ faults: [] });
});

function emptyLog(shard: number, next: number): Awaited<ReturnType<Datastore['log']>>[number] {
  return { shard, cells: [], next, more: true, served_by: 'writer', stale: false };
}

test('a log that was cut since the last part is noticed, whether it is shorter or has other cells', async () => {
  await exported({ sinceLast: true });
  await write(100);
  const from = source();
  const shorter = { ...from, heads: async () => (await from.heads()).map((head) => ({ ...head, head: 1 })) };
  await expect(exported({ sinceLast: true }, shorter)).rejects.toMatchObject({ code: 'cut_log' });

  const rewritten = reading(async (read, ...asked) =>
    (await read(...asked)).map((log) =>
      log.error === undefined
        ? { ...log, cells: log.cells.map((cell) => ({ ...cell, created_at: '2026-01-01T00:00:00.000000Z' })) }
        : log,
    ),
  );
  await expect(exported({ sinceLast: true }, rewritten)).rejects.toMatchObject({ code: 'cut_log' });
});

test('the check finds a file that lacks a line, one that is gone, a part that is gone, and one that is not complete', async () => {
  await exported({ sinceLast: true });
  await write(100);
  await exported({ sinceLast: true });
  const path = join(scene.target, 'part-0001/0001.ndjson.gz');
  const good = readFileSync(path);

  const lines = String(gunzipSync(good)).split('\n');
  writeFileSync(path, gzipSync(lines.toSpliced(3, 1).join('\n')));
  expect((await check())?.faults).toEqual([expect.stringMatching(/^part-0001\/0001\.ndjson\.gz: wanted \d+ bytes/u)]);

  // Sums recomputed for other cells.
  const output = JSON.stringify(manifest('part-0001'), null, 2);
  const other = gzipSync(lines.with(3, (lines[3] ?? '').replace(/"value":/u, '"valve":')).join('\n'));
  const { file } = manifest('part-0001').shards[1] ?? {};
  writeFileSync(path, other);
  manifest('part-0001', (text) =>
    text
      .replace(String(file?.sha256), hash('sha256', other))
      .replace(`"bytes": ${file?.bytes}`, `"bytes": ${other.length}`),
  );
  expect((await check())?.faults).toEqual([
    expect.stringMatching(/^part-0001\/0001\.ndjson\.gz: wanted the digest \w{64}, got \w{64}$/u),
  ]);
  manifest('part-0001', () => output);

  rmSync(path);
  expect((await check())?.faults).toEqual([expect.stringContaining('ENOENT')]);
  writeFileSync(path, good);
  expect((await check())?.faults).toEqual([]);

  renameSync(join(scene.target, 'part-0001'), join(scene.target, 'part-0009'));
  expect((await check())?.faults).toContainEqual(expect.stringContaining('wanted cells after 0'));
  renameSync(join(scene.target, 'part-0009'), join(scene.target, 'part-0001'));
  rmSync(join(scene.target, 'part-0002/_manifest.json'));
  expect((await check())?.faults).toEqual(['part-0002 is not complete']);
});
