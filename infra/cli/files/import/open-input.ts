import { createHash } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bareName, compressionOf } from '../../../../shared/files/compression.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { isExport, MANIFEST, readManifests } from '../../../../shared/files/manifest.ts';
import { checkRanges } from '../export/check-export.ts';
import { folderTarget } from '../export/folder-target.ts';
import type { Mapping } from './csv-mapping.ts';
import type { CsvOptions } from './csv-source.ts';
import { fingerprint, type Fingerprint } from './journal.ts';
import { ndjsonSource, type DefaultRefKey } from './ndjson-source.ts';
import { decompress, isUtf16, openFile, type OpenBytes } from './open-bytes.ts';
import type { CellSource } from './source.ts';

export type InputFormat = 'ndjson' | 'csv';

export interface InputOptions {
  /** @default by the name: `.csv`, else ndjson */
  readonly format?: InputFormat | undefined;
  readonly mapping?: string | undefined;
  readonly defaultRefKey?: DefaultRefKey | undefined;
  /** Whether cells keep the times of the input. @default `kept` for an export, else `new` */
  readonly times?: 'kept' | 'new' | undefined;
}

interface Input {
  readonly sources: readonly CellSource[];
  /** Samples that detect a changed input; none for a pipe. */
  readonly fingerprints: readonly Fingerprint[];
  readonly areTimesKept: boolean;
  /** The other options that decide its cells. */
  readonly reading: Readonly<Record<string, unknown>>;
}

export const PIPE = '-';

/** Opens NDJSON, CSV, an export's folder or stdin. Throws `bad_input`, `bad_option`, `bad_mapping`. */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  if (path !== PIPE && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return openExport(path, options);
  }
  const { format = /\.csv$/iu.test(bareName(path)) ? 'csv' : 'ndjson', defaultRefKey } = options;
  const mapping = await readMappingOf(format, options);
  const areTimesKept = options.times === 'kept';
  const reading = {
    format,
    mapping: mapping ?? null,
    default_ref_key: defaultRefKey ?? null,
    ...(areTimesKept && { times: 'kept' }),
  };
  const print = path === PIPE ? undefined : await fingerprint(path);
  const input = {
    name: path === PIPE ? PIPE : basename(path),
    size: print?.size,
    areTimesKept,
    open: (start = 0) => (print ? openFile(path, { start }) : decompress(process.stdin, 'ndjson')),
    isSeekable: print !== undefined && !mapping && compressionOf(path) === 'none' && !(await isUtf16(path)),
  };
  const source = mapping ? await openCsv({ ...input, mapping }) : ndjsonSource({ ...input, defaultRefKey });
  return { sources: [source], fingerprints: print ? [print] : [], areTimesKept, reading };
}

async function readMappingOf(format: InputFormat, { mapping, times }: InputOptions): Promise<Mapping | undefined> {
  if (format === 'csv' && mapping === undefined)
    throw new FilesError('bad_option', 'mapping: wanted a YAML file that maps the columns of the CSV');
  if (format === 'ndjson' && mapping !== undefined)
    throw new FilesError('bad_option', `mapping: wanted none, since NDJSON needs none, got ${mapping}`);
  if (mapping === undefined) return undefined;
  const { readMapping } = await import('./csv-mapping.ts');
  const read = readMapping(mapping);
  if (times === 'kept' && read.created_at === undefined)
    throw new FilesError('bad_mapping', `${mapping}: created_at: wanted the column with the times, got none`);
  return read;
}

/** Loads the parsers of CSV and YAML only for CSV, since each takes memory. */
async function openCsv(options: CsvOptions): Promise<CellSource> {
  const { csvSource } = await import('./csv-source.ts');
  return csvSource(options);
}

async function openExport(folder: string, { format, mapping, defaultRefKey, times }: InputOptions): Promise<Input> {
  if (format !== undefined || mapping !== undefined || defaultRefKey !== undefined)
    throw new FilesError('bad_option', `${folder}: wanted no format, mapping or ref key, since an export needs none`);
  if (!isExport(folder))
    throw new FilesError('bad_input', `input: wanted a file, or a folder with an export, got ${folder}`);
  const areTimesKept = times !== 'new';
  const manifests = await readManifests(folderTarget(folder));
  const files = manifests.flatMap(({ part, manifest }) => {
    if (manifest.format !== 'ndjson')
      throw new FilesError(
        'bad_input',
        `${part}: wanted an export in NDJSON, got ${manifest.format}, which is for analysis and cannot be imported`,
      );
    return manifest.shards.flatMap(({ shard, file }) =>
      file ? [{ shard, ...file, path: join(folder, part, file.name) }] : [],
    );
  });
  const faults = [...checkRanges(manifests), ...files.flatMap(faultOf)];
  if (faults.length > 0)
    throw new FilesError('bad_input', `${folder}: wanted an export as its manifests say, but ${listed(faults)}`);
  const shards = [...new Set(files.map(({ shard }) => shard))].toSorted((one, other) => one - other);
  return {
    sources: shards.map((shard) =>
      shardSource(
        shard,
        files.filter((file) => file.shard === shard),
        areTimesKept,
      ),
    ),
    fingerprints: await Promise.all(manifests.map(({ part }) => fingerprint(join(folder, part, MANIFEST)))),
    areTimesKept,
    reading: { format: 'export', ...(areTimesKept && { times: 'kept' }) },
  };
}

/** Checks type and size; the SHA-256 is compared when the file is read. */
function faultOf({ path, bytes }: ShardFile): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) return [`${path}: wanted a file, got a link or a folder`];
  const size = found?.size;
  return size === bytes ? [] : [`${path}: wanted ${bytes} bytes, got ${size ?? 'no file'}`];
}

interface ShardFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

function shardSource(shard: number, files: readonly ShardFile[], areTimesKept: boolean): CellSource {
  const faults: string[] = [];
  return {
    ...ndjsonSource({
      name: `shard ${shard}`,
      size: files.reduce((sum, { bytes }) => sum + bytes, 0),
      open: () => openInOrder(files, faults),
      areTimesKept,
    }),
    faults: () => faults,
  };
}

function openInOrder(files: readonly ShardFile[], faults: string[]): OpenBytes {
  const before = { bytes: 0, text: 0 };
  let current: OpenBytes | undefined;
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const { path, sha256 } of files) {
      const sum = createHash('sha256');
      current = openFile(path, { seen: (piece) => sum.update(piece) });
      yield* current.stream;
      before.bytes += current.bytesRead();
      before.text += current.textRead();
      current = undefined;
      const got = sum.digest('hex');
      if (got !== sha256) faults.push(`${path}: wanted the SHA-256 ${sha256}, got ${got}`);
    }
  }
  return {
    stream: pieces(),
    bytesRead: () => before.bytes + (current?.bytesRead() ?? 0),
    textRead: () => before.text + (current?.textRead() ?? 0),
  };
}
