import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { expect, test } from 'vitest';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { openTarget } from '../../../../infra/cli/files/export-command.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { parquetFile } from '../../../../shared/files/parquet-file.ts';
import { exportTests } from './export-files.ts';

const scene = exportTests();
const { exported, source, reading, write, check, manifest } = scene;

test('of two exports to one folder at once one is refused, and changes nothing', async () => {
  let second: Promise<unknown> | undefined;
  const from = reading(async (read, ...asked) => {
    second ??= exported().catch((error: unknown) => error);
    await second;
    return read(...asked);
  });
  const first = exported({}, from);
  expect(await first).toMatchObject({ complete: true, cells: 300 });
  expect(await second).toMatchObject({ code: 'busy_export', ending: 'unavailable' });
  expect(await check()).toMatchObject({ faults: [] });
  expect(readdirSync(scene.target)).toEqual(['part-0001']);
});

test('an export that was killed is gone on with, on its machine at once, and leaves no half files', async () => {
  await exported();
  const lock = join(scene.target, '_lock.json');
  const half = join(scene.target, 'part-0001/_unfinished-x-0000.ndjson.gz');
  writeFileSync(half, 'half');
  // As of a process that had the number of this one, and of one that is gone.
  for (const pid of [process.pid, 2 ** 22 - 1]) {
    writeFileSync(lock, JSON.stringify({ id: 'before', pid, host: hostname(), since: '' }));
    expect(await exported({ sinceLast: true })).toMatchObject({ part: undefined });
  }
  expect(existsSync(lock)).toBe(false);
  expect(existsSync(half)).toBe(false);
  writeFileSync(lock, JSON.stringify({ id: 'elsewhere', pid: 1, host: 'elsewhere', since: '' }));
  await expect(exported({ sinceLast: true })).rejects.toMatchObject({ code: 'busy_export' });
});

test('columns of Parquet keep their names and types when indexes come and go', async () => {
  const value = { field: 'value', type: 'number', column_key: 'READING' };
  await exported({ format: 'parquet', sinceLast: true }, source([value]));
  await write(50);
  const other = { field: 'value', type: 'string', column_key: 'NOTES' };
  await exported({ format: 'parquet', sinceLast: true }, source([other, value]));
  await write(60);
  await exported({ format: 'parquet', sinceLast: true }, source([]));

  const namesOf = (part: string): readonly string[] =>
    manifest(part).typed_columns.map(({ name, type }) => `${name} ${type}`);
  expect(namesOf('part-0001')).toEqual(['value number']);
  expect(namesOf('part-0002')).toEqual(['value number', 'notes_value string']);
  expect(namesOf('part-0003')).toEqual(namesOf('part-0002'));
});

test('the check looks at the added ids of Parquet, too', async () => {
  await exported({ format: 'parquet' });
  expect(await check()).toMatchObject({ cells: 300, faults: [] });
  const [log] = await scene.datastore.log([{ shard: 1, after: 0 }], { limit: 1000 });
  const cells = log && 'cells' in log ? log.cells : [];
  const last = cells.length;

  /** A file as the manifest says in all but the added ids of its cells, with several groups of rows. */
  const faultsWith = async (ids: (id: number) => number): Promise<readonly string[]> => {
    const path = join(scene.target, 'part-0001/0001.parquet');
    const file = await parquetFile(path, []);
    await file.write(cells.map((cell) => ({ ...cell, body: 'x'.repeat(100_000), added_id: ids(cell.added_id) })));
    const sum = await file.finish();
    expect((await parquetMetadataAsync(await asyncBufferFromFile(path))).row_groups.length).toBeGreaterThan(1);
    manifest('part-0001', (text) => {
      const all = JSON.parse(text) as ReturnType<typeof manifest>;
      const shards = all.shards.map((shard) =>
        shard.shard === 1 && shard.file ? { ...shard, file: { ...shard.file, ...sum } } : shard,
      );
      return JSON.stringify({ ...all, shards });
    });
    return (await check())?.faults ?? [];
  };
  const wanted = `part-0001/0001.parquet: wanted the added ids 1 to ${last}, got`;
  expect(await faultsWith((id) => id)).toEqual([]);
  expect(await faultsWith((id) => (id === 7 ? 8 : id))).toEqual([`${wanted} 1 to ${last}, with a hole at 7`]);
  expect(await faultsWith((id) => id + 1)).toEqual([`${wanted} 2 to ${last + 1}`]);
  expect(await faultsWith((id) => last + 1 - id)).toEqual([`${wanted} ${last} to 1, with a hole at ${last + 1}`]);
});

test('a check that is interrupted ends, and says nothing of faults', async () => {
  await exported();
  expect(await checkExport(folderTarget(scene.target), AbortSignal.abort())).toBeUndefined();
});

test('a file is not taken for a folder', async () => {
  writeFileSync(scene.target, 'kept');
  await expect(openTarget(scene.target)).rejects.toMatchObject({
    code: 'bad_option',
    message: `to: wanted a folder, or s3://bucket/prefix, got the file ${scene.target}`,
  });
  expect(readFileSync(scene.target, 'utf8')).toBe('kept');
});
