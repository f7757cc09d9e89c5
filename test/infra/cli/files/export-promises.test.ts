import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { exportCells, type ExportOptions, type ExportReport } from '../../../../shared/files/export-cells.ts';
import { openTarget } from '../../../../infra/cli/files/export/open-target.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import type { Manifest } from '../../../../shared/files/manifest.ts';
import type { IndexStatus } from '../../../../shared/contract/index-status.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { referenceStore } from '../../../../shared/store/reference-store.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
let datastore: Datastore;
let target: string;
let count = 0;

beforeEach(async () => {
  count += 1;
  target = join(folder.path, `export-${count}`);
  datastore = referenceStore('readings', 4);
  await write(300);
});

async function write(cells: number): Promise<void> {
  for (const cell of readings({ cells, rows: 20, seed: `export ${count} ${cells}` })) await datastore.put(cell);
}

type Source = Pick<Datastore, 'name' | 'heads' | 'log'> & { indexes(): Promise<readonly IndexStatus[]> };

function source(fields: readonly object[] = []): Source {
  return { ...datastore, indexes: async () => [{ fields } as unknown as IndexStatus] };
}

function exported(wishes: Partial<ExportOptions> = {}, from: Source = source()): Promise<ExportReport> {
  return exportCells(from, { target: folderTarget(target), format: 'ndjson', ...wishes });
}

test('of two exports to one folder at once one is refused, and changes nothing', async () => {
  const from = source();
  let second: Promise<unknown> | undefined;
  const first = exported(
    {},
    {
      ...from,
      async log(...asked) {
        second ??= exported().catch((error: unknown) => error);
        await second;
        return from.log(...asked);
      },
    },
  );
  expect(await first).toMatchObject({ complete: true, cells: 300 });
  expect(await second).toMatchObject({ code: 'busy_export', ending: 'unavailable' });
  expect(await checkExport(folderTarget(target))).toMatchObject({ faults: [] });
  expect(readdirSync(target)).toEqual(['part-0001']);
});

test('an export that was killed is gone on with, on its machine at once, and leaves no half files', async () => {
  await exported();
  const lock = join(target, '_lock.json');
  const half = join(target, 'part-0001/_unfinished-x-0000.ndjson.gz');
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
    (JSON.parse(readFileSync(join(target, part, '_manifest.json'), 'utf8')) as Manifest).typed_columns.map(
      ({ name, type }) => `${name} ${type}`,
    );
  expect(namesOf('part-0001')).toEqual(['value number']);
  expect(namesOf('part-0002')).toEqual(['value number', 'notes_value string']);
  expect(namesOf('part-0003')).toEqual(namesOf('part-0002'));
});

test('a check that is interrupted ends, and says nothing of faults', async () => {
  await exported();
  expect(await checkExport(folderTarget(target), AbortSignal.abort())).toBeUndefined();
});

test('a file is not taken for a folder', async () => {
  writeFileSync(target, 'kept');
  await expect(openTarget(target)).rejects.toMatchObject({
    code: 'bad_option',
    message: `to: wanted a folder, or s3://bucket/prefix, got the file ${target}`,
  });
  expect(readFileSync(target, 'utf8')).toBe('kept');
});
