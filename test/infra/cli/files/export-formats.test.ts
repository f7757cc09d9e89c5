import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { expect, onTestFinished, test, vi } from 'vitest';
import { athenaDdl, openTarget } from '../../../../infra/cli/files/export-command.ts';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { typedColumns } from '../../../../shared/files/parquet-file.ts';
import { HAS_ZSTD } from '../../../../shared/files/compression.ts';
import { openBucket } from '../../../support/files/bucket.ts';
import { exportTests, logOf } from './export-files.ts';
import { itemsIn } from './import-file.ts';

const scene = exportTests();
const { exported, source, write, check } = scene;

const FIELDS = [
  { field: 'value', type: 'number', column_key: 'READING' },
  { field: 'at', type: 'datetime', column_key: 'READING' },
  { field: 'place.number', type: 'integer', column_key: 'READING' },
  { field: 'status', type: 'boolean', column_key: 'READING' },
] as const;

test.runIf(HAS_ZSTD)('zstd is imported as gzip is', async () => {
  await exported({ compression: 'zstd' });
  expect(await check()).toMatchObject({ faults: [] });
  expect(await itemsIn(scene.target)).toHaveLength((await logOf(scene.datastore)).length);
});

test('of a Parquet file that is damaged its sum is told, and not what its reader makes of it', async () => {
  await exported({ format: 'parquet' });
  const path = join(scene.target, 'part-0001/0000.parquet');
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, 4, 200));
  expect((await check())?.faults).toEqual([expect.stringMatching(/^part-0001\/0000\.parquet: wanted the SHA-256/u)]);
});

test('Parquet has fields of indexes as columns of their types, and the body as JSON', async () => {
  await exported({ format: 'parquet' }, source(FIELDS));
  expect(await check()).toMatchObject({ faults: [] });

  const rows = await parquetReadObjects({
    file: await asyncBufferFromFile(join(scene.target, 'part-0001/0000.parquet')),
  });

  const cells = (await logOf(scene.datastore)).filter(({ shard }) => shard === 0);
  expect(rows).toHaveLength(cells.length);
  const [row, cell] = [rows[0], cells[0]];
  const body = Object(cell?.body);
  expect(row).toMatchObject({
    shard: 0,
    added_id: BigInt(cell?.added_id ?? 0),
    row_key: cell?.row_key,
    column_name: 'READING',
    ref_key: BigInt(cell?.ref_key ?? 0),
    erased: false,
    value: body.value,
    at: new Date(body.at),
    place_number: BigInt(body.place.number),
    // Of another type than the index says.
    status: null,
  });
  expect(JSON.parse(String(row?.['body']))).toEqual(body);
  expect(Object(row?.['created_at']).toISOString()).toBe(`${cell?.created_at.slice(0, 23)}Z`);
});

test('the table of Athena has the columns of the files', () => {
  const typed = typedColumns([
    { fields: [...FIELDS, { field: 'value', type: 'string', column_key: 'NOTES' }] },
    {
      fields: [
        { field: 'at', type: 'datetime', column_key: 'READING' },
        { field: 'body', type: 'string', column_key: 'X' },
      ],
    },
  ]);
  expect(typed.map(({ name }) => name)).toEqual([
    'reading_value',
    'at',
    'place_number',
    'status',
    'notes_value',
    'x_body',
  ]);
  expect(athenaDdl('readings', 's3://lake/readings', typed)).toContain(
    "  `place_number` bigint,\n  `status` boolean,\n  `notes_value` string,\n  `x_body` string\n)\nSTORED AS PARQUET\nLOCATION 's3://lake/readings/'",
  );
});

test('a bucket holds what a folder does', async () => {
  const bucket = await openBucket(join(scene.folder, 's3'));
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await bucket.close();
  });
  vi.stubEnv('AWS_ENDPOINT_URL_S3', bucket.url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  const target = await openTarget('s3://lake/some/where');
  onTestFinished(() => target.close());
  await exported({ target, sinceLast: true });
  await write(100);
  expect(await exported({ target, sinceLast: true })).toMatchObject({ part: 'part-0002', cells: 100 });
  expect(await checkExport(target)).toMatchObject({
    parts: 2,
    cells: (await logOf(scene.datastore)).length,
    faults: [],
  });
});
