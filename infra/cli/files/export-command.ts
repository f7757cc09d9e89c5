import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import type { FieldType } from '../../../shared/definitions/definitions.ts';
import type { Compression } from '../../../shared/files/compression.ts';
import { exportCells, type ExportReport } from '../../../shared/files/export-cells.ts';
import { FilesError } from '../../../shared/files/files-error.ts';
import { readManifests, type TypedColumn } from '../../../shared/files/manifest.ts';
import { readS3Address, s3Target } from '../../../shared/files/s3-target.ts';
import type { ExportTarget } from '../../../shared/files/target.ts';
import { typedColumns } from '../../../shared/files/parquet-file.ts';
import { command } from '../cli.ts';
import type { Ending } from '../errors.ts';
import { oneOf } from '../flags.ts';
import { checkExport } from './export/check-export.ts';
import { folderTarget } from './export/folder-target.ts';
import { keepHeapSmall } from './files-command.ts';
import { showProgress } from './progress.ts';

interface Flags {
  readonly format: 'ndjson' | 'parquet';
  readonly compression?: Compression;
  readonly sinceLast?: true;
  readonly read?: Role;
  readonly opened?: true;
  readonly ddl?: true;
  readonly check?: true;
  readonly lock: boolean;
}

export function exportCommand(): Command {
  return command('export')
    .description('write the cells of all shards, a file each, with a manifest, to a folder or to S3')
    .argument('<to>', 'a folder, or s3://bucket/prefix (any server that AWS_ENDPOINT_URL_S3 names)')
    .option('--format <name>', 'ndjson or parquet', oneOf(['ndjson', 'parquet']), 'ndjson')
    .option('--compression <name>', 'of NDJSON: gzip, zstd or none (default: gzip)', oneOf(['gzip', 'zstd', 'none']))
    .option('--since-last', 'only the cells since the last export to this target, as its next part')
    .option('--read <role>', 'the role to read from: writer or reader (default: writer)', oneOf(['writer', 'reader']))
    .option('--opened', 'decrypt sealed fields: they stay readable after their subject is forgotten')
    .option('--ddl', 'print the statement that creates an Athena table over such an export, and export nothing')
    .option('--check', 'compare the export with its manifests, and export nothing')
    .option('--no-lock', 'for an S3 server without conditional writes: no other export may write there')
    .addHelpText('after', EXAMPLES)
    .run<[string], Flags>(async (session, [to], flags) => {
      keepHeapSmall();
      const { signal, afterwards } = session.untilInterrupted();
      const target = await openTarget(to, { isLocked: flags.lock, signal: afterwards });
      try {
        if (flags.check) return await check(target, signal);
        const client = await session.connect({ signal: afterwards });
        if (flags.ddl) return await printDdl(to, flags, client, target);
        return print(await run(target, flags, client, signal));
      } finally {
        await target.close();
      }
    });
}

const EXAMPLES = `
A repeated command continues after a kill. A part is complete once it has a _manifest.json. --check ends with 1 if it
finds a fault.

Examples:
  schemaless export backup                                   all cells, as NDJSON
  schemaless export backup --since-last                      the new cells
  schemaless export backup --check
  schemaless export s3://lake/trips --format parquet --since-last
  schemaless export s3://lake/trips --format parquet --ddl
`;

async function run(
  target: ExportTarget,
  flags: Flags,
  client: SchemalessClient,
  signal: AbortSignal,
): Promise<ExportReport> {
  if (flags.format === 'parquet' && flags.compression !== undefined)
    throw new FilesError(
      'bad_option',
      `compression: wanted none with parquet, which has its own, got ${flags.compression}`,
    );
  const { format, compression, sinceLast, read, opened } = flags;
  return exportCells(client, {
    target,
    format,
    compression,
    sinceLast,
    read,
    opened,
    signal,
    progress: await showProgress(process.stderr),
  });
}

function print(report: ExportReport): Ending {
  process.stdout.write(`${JSON.stringify(report)}\n`);
  return report.complete ? 'ok' : 'interrupted';
}

async function check(target: ExportTarget, signal: AbortSignal): Promise<Ending> {
  const report = await checkExport(target, signal);
  if (!report) return 'interrupted';
  process.stdout.write(`${JSON.stringify(report)}\n`);
  return report.faults.length > 0 ? 'internal' : 'ok';
}

async function printDdl(
  to: string,
  { format }: Flags,
  client: SchemalessClient,
  target: ExportTarget,
): Promise<Ending> {
  if (format !== 'parquet') throw new FilesError('bad_option', `ddl: wanted --format parquet with it, got ${format}`);
  const last = (await readManifests(target)).at(-1);
  const columns = typedColumns((await client.listIndexes()).indexes, last?.manifest.typed_columns);
  process.stdout.write(`${athenaDdl(client.name, to, columns)}\n`);
  return 'ok';
}

const TYPE: Readonly<Record<FieldType, string>> = {
  UUID: 'string',
  string: 'string',
  integer: 'bigint',
  number: 'double',
  boolean: 'boolean',
  datetime: 'timestamp',
};

/** Returns the statement that creates an Athena table over an export in Parquet, with all present and later parts. */
export function athenaDdl(datastore: string, location: string, typed: readonly TypedColumn[]): string {
  const columns = [
    ['shard', 'int'],
    ['added_id', 'bigint'],
    ['row_key', 'string'],
    ['column_name', 'string'],
    ['ref_key', 'bigint'],
    ['created_at', 'timestamp'],
    ['erased', 'boolean'],
    ['body', 'string'],
    ...typed.map(({ name, type }) => [name, TYPE[type]]),
  ];
  return [
    `CREATE EXTERNAL TABLE \`${datastore}_cells\` (`,
    columns.map(([name, type]) => `  \`${name}\` ${type}`).join(',\n'),
    ')',
    'STORED AS PARQUET',
    `LOCATION '${location.replaceAll("'", "''").replace(/\/?$/u, '/')}'`,
    `TBLPROPERTIES ('parquet.compression' = 'SNAPPY');`,
  ].join('\n');
}

interface TargetOptions {
  /** Whether to lock a bucket against other exports; a folder is always locked. @default true */
  readonly isLocked?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a folder, or `s3://bucket/prefix` on AWS or on the server in AWS_ENDPOINT_URL_S3. Throws `bad_option`. */
export async function openTarget(to: string, { isLocked = true, signal }: TargetOptions = {}): Promise<ExportTarget> {
  if (!/^[a-z][a-z0-9]+:\/\//iu.test(to)) {
    if (statSync(to, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new FilesError('bad_option', `to: wanted a folder, or s3://bucket/prefix, got the file ${to}`);
    if (!isLocked)
      throw new FilesError(
        'bad_option',
        `no-lock: wanted with s3://bucket/prefix alone, got ${to}, which is always locked`,
      );
    return folderTarget(to);
  }
  const address = readS3Address(to);
  if (!address) throw new FilesError('bad_option', `to: wanted a folder, or s3://bucket/prefix, got ${to}`);
  const endpoint = process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'];
  const region = process.env['AWS_REGION'] === undefined && endpoint !== undefined ? 'us-east-1' : undefined;
  return s3Target(address.bucket, address.prefix, { endpoint, region, isLocked, signal });
}
