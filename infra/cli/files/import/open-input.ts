import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { bareName, compressionOf } from '../../../../shared/files/compression.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import type { Mapping } from './csv-mapping.ts';
import type { CsvOptions } from './csv-source.ts';
import { fingerprint, type Fingerprint } from './journal.ts';
import { ndjsonSource, type DefaultRefKey } from './ndjson-source.ts';
import { decompress, openFile } from './open-bytes.ts';
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
  if (path !== PIPE && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const { openExport } = await import('./open-export.ts');
    return openExport(path, options);
  }
  const { format = /\.csv$/iu.test(bareName(path)) ? 'csv' : 'ndjson', defaultRefKey } = options;
  const mapping = await readMappingOf(format, options);
  const reading = { format, mapping: mapping ?? null, default_ref_key: defaultRefKey ?? null };
  if (path === PIPE) {
    const open = (): ReturnType<typeof decompress> => decompress(process.stdin, 'ndjson');
    const input = { name: PIPE, size: undefined, open };
    const source = mapping ? await openCsv({ ...input, mapping }) : ndjsonSource({ ...input, defaultRefKey });
    return { sources: [source], fingerprints: [], reading };
  }
  const print = await fingerprint(path);
  const isPlain = compressionOf(path) === 'none';
  const input = { name: basename(path), size: print.size, open: () => openFile(path) };
  const source = mapping
    ? await openCsv({ ...input, mapping })
    : ndjsonSource({
        ...input,
        openAt: isPlain ? (byte) => openFile(path, { start: byte }) : undefined,
        defaultRefKey,
      });
  return { sources: [source], fingerprints: [print], reading };
}

async function readMappingOf(format: InputFormat, { mapping }: InputOptions): Promise<Mapping | undefined> {
  if (format === 'csv' && mapping === undefined)
    throw new FilesError('bad_option', 'mapping: wanted a YAML file that says what the columns of the CSV are');
  if (format === 'ndjson' && mapping !== undefined)
    throw new FilesError('bad_option', `mapping: wanted none, since NDJSON says itself what is what, got ${mapping}`);
  if (mapping === undefined) return undefined;
  const { readMapping } = await import('./csv-mapping.ts');
  return readMapping(mapping);
}

/** Parsers of CSV and YAML are loaded where there is some: each takes of the memory. */
async function openCsv(options: CsvOptions): Promise<CellSource> {
  const { csvSource } = await import('./csv-source.ts');
  return csvSource(options);
}
