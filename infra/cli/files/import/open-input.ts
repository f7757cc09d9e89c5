import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bareName, compressionOf } from '../compression.ts';
import { isExport, readManifests } from '../export/manifest.ts';
import { folderTarget } from '../export/folder-target.ts';
import { FilesError } from '../files-error.ts';
import { readMapping, type Mapping } from './csv-mapping.ts';
import { csvSource } from './csv-source.ts';
import { fingerprint, type Fingerprint } from './journal.ts';
import { ndjsonSource, type DefaultRefKey } from './ndjson-source.ts';
import { decompress, openFile } from './open-bytes.ts';
import { shardSource } from './shard-source.ts';
import type { CellSource } from './source.ts';

export type InputFormat = 'ndjson' | 'csv';

export interface InputOptions {
  /** @default as the name says: `.csv`, else ndjson */
  readonly format?: InputFormat | undefined;
  /** The mapping file of CSV. */
  readonly mapping?: string | undefined;
  readonly defaultRefKey?: DefaultRefKey | undefined;
}

/** What is to be imported. */
export interface Input {
  readonly sources: readonly CellSource[];
  /** What tells whether it is the same later on; none of a pipe. */
  readonly fingerprints: readonly Fingerprint[];
  /** Whatever else decides which cells it holds. */
  readonly reading: Readonly<Record<string, unknown>>;
}

/** Standard input. */
export const PIPE = '-';

/**
 * A file of NDJSON or CSV, packed or not; a folder that an export made; or `-`, standard input.
 *
 * @throws FilesError `bad_input`, `bad_option`, `bad_mapping`
 */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  if (path !== PIPE && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return openExport(path, options);
  const { format = /\.csv$/iu.test(bareName(path)) ? 'csv' : 'ndjson', defaultRefKey } = options;
  const mapping = readMappingOf(format, options);
  const reading = { format, mapping: mapping ?? null, default_ref_key: defaultRefKey ?? null };
  if (path === PIPE) {
    const open = (): ReturnType<typeof decompress> => decompress(process.stdin, 'ndjson');
    const input = { name: PIPE, size: undefined, open };
    const source = mapping ? csvSource({ ...input, mapping }) : ndjsonSource({ ...input, defaultRefKey });
    return { sources: [source], fingerprints: [], reading };
  }
  const print = await fingerprint(path);
  const isPlain = compressionOf(path) === 'none';
  const input = { name: basename(path), size: print.size, open: () => openFile(path, 0) };
  const source = mapping
    ? csvSource({ ...input, mapping })
    : ndjsonSource({
        ...input,
        openAt: isPlain ? (byte) => openFile(path, byte) : undefined,
        defaultRefKey,
      });
  return { sources: [source], fingerprints: [print], reading };
}

function readMappingOf(format: InputFormat, { mapping }: InputOptions): Mapping | undefined {
  if (format === 'csv' && mapping === undefined)
    throw new FilesError('bad_option', 'mapping: wanted a YAML file that says what the columns of the CSV are');
  if (format === 'ndjson' && mapping !== undefined)
    throw new FilesError('bad_option', `mapping: wanted none, since NDJSON says itself what is what, got ${mapping}`);
  return mapping === undefined ? undefined : readMapping(mapping);
}

/** Of each shard the files of all parts, in their order. */
async function openExport(folder: string, { format, mapping, defaultRefKey }: InputOptions): Promise<Input> {
  if (format !== undefined || mapping !== undefined || defaultRefKey !== undefined)
    throw new FilesError('bad_option', `${folder}: wanted no format, mapping or ref key, since an export says it all`);
  if (!isExport(folder))
    throw new FilesError('bad_input', `input: wanted a file, or a folder with an export, got ${folder}`);
  const manifests = await readManifests(folderTarget(folder));
  const files = manifests.flatMap(({ part, manifest }) => {
    if (manifest.format !== 'ndjson')
      throw new FilesError(
        'bad_input',
        `${part}: wanted an export in NDJSON, got ${manifest.format}, which is for analysis and cannot be imported`,
      );
    return manifest.shards.flatMap(({ shard, file }) => (file ? [{ shard, path: join(folder, part, file.name) }] : []));
  });
  const shards = [...new Set(files.map(({ shard }) => shard))].toSorted((one, other) => one - other);
  return {
    sources: shards.map((shard) =>
      shardSource(
        shard,
        files.filter((file) => file.shard === shard).map(({ path }) => path),
      ),
    ),
    fingerprints: await Promise.all(manifests.map(({ part }) => fingerprint(join(folder, part, '_manifest.json')))),
    reading: { format: 'export' },
  };
}
