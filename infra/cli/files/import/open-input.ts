import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { bareName, compressionOf } from '../../../../shared/files/compression.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import type { Input, InputFormat, InputOptions } from './input.ts';
import type { Mapping } from './csv-mapping.ts';
import type { CsvOptions } from './csv-source.ts';
import { fingerprint } from './journal.ts';
import { ndjsonSource } from './ndjson-source.ts';
import { decompress, openFile } from './open-bytes.ts';
import type { CellSource } from './source.ts';

export const PIPE = '-';

/** Opens NDJSON, CSV, an export's folder or stdin. Throws `bad_input`, `bad_option`, `bad_mapping`. */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  if (path !== PIPE && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const { openExport } = await import('./open-export.ts');
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
    isSeekable: print !== undefined && mapping === undefined && compressionOf(path) === 'none',
  };
  const source = mapping ? await openCsv({ ...input, mapping }) : ndjsonSource({ ...input, defaultRefKey });
  return { sources: [source], fingerprints: print ? [print] : [], areTimesKept, reading };
}

async function readMappingOf(format: InputFormat, { mapping, times }: InputOptions): Promise<Mapping | undefined> {
  if (format === 'csv' && mapping === undefined)
    throw new FilesError('bad_option', 'mapping: wanted a YAML file that says what the columns of the CSV are');
  if (format === 'ndjson' && mapping !== undefined)
    throw new FilesError('bad_option', `mapping: wanted none, since NDJSON says itself what is what, got ${mapping}`);
  if (mapping === undefined) return undefined;
  const { readMapping } = await import('./csv-mapping.ts');
  const read = readMapping(mapping);
  if (times === 'kept' && read.created_at === undefined)
    throw new FilesError('bad_mapping', `${mapping}: created_at: wanted the column with the times, got none`);
  return read;
}

/** Parsers of CSV and YAML are loaded where there is some: each takes of the memory. */
async function openCsv(options: CsvOptions): Promise<CellSource> {
  const { csvSource } = await import('./csv-source.ts');
  return csvSource(options);
}
