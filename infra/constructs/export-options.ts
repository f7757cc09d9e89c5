import { Duration } from 'aws-cdk-lib';

/** How a datastore is exported. */
export interface ExportOptions {
  /**
   * What tells it from other exports of the datastore: 1 to 30 of a-z, 0-9 and single hyphens. @default the format
   */
  readonly name?: string;
  /** How often it runs: 5 minutes to a day, in whole minutes. @default an hour */
  readonly every?: Duration;
  /**
   * Of the files: `ndjson`, which can be imported again, or `parquet`, for analysis. For good.
   *
   * @default ndjson
   */
  readonly format?: 'ndjson' | 'parquet';
  /** Of NDJSON; Parquet is packed with snappy. For good. @default gzip */
  readonly compression?: 'gzip' | 'zstd' | 'none';
  /**
   * Where in the bucket it is, without slashes at its ends: names of letters, digits and `_ . = -`, with a slash between
   * them, 200 characters at most. Another one is another export, which begins with the whole.
   *
   * @default the name of the datastore
   */
  readonly prefix?: string;
  /**
   * Of whom the logs are read: the writer, or readers, which have less to do and may be behind.
   *
   * @default writer
   */
  readonly read?: 'writer' | 'reader';
}

export type CheckedExport = Required<ExportOptions>;

const LEAST = Duration.minutes(5);
const MOST = Duration.days(1);
const NAME = /^(?=.{1,30}$)[a-z0-9]+(?:-[a-z0-9]+)*$/u;
const PREFIX = /^(?=.{1,200}$)[\w.=-]+(?:\/[\w.=-]+)*$/u;

/** With defaults. Throws an Error that names the option, what was wanted and what came. */
export function exportOptions(datastore: string, options: ExportOptions): CheckedExport {
  const { format = 'ndjson', compression = 'gzip', every = Duration.hours(1), read = 'writer' } = options;
  const { name = format, prefix = datastore } = options;
  const refuse = (option: string, wanted: string, got: string): never => {
    throw new Error(`export of ${datastore}, ${option}: wanted ${wanted}, got ${got}`);
  };
  if (!['ndjson', 'parquet'].includes(format)) refuse('format', 'ndjson or parquet', format);
  if (!['gzip', 'zstd', 'none'].includes(compression)) refuse('compression', 'gzip, zstd or none', compression);
  if (format === 'parquet' && options.compression !== undefined)
    refuse('compression', 'none with parquet, which has its own', compression);
  if (!['writer', 'reader'].includes(read)) refuse('read', 'writer or reader', read);
  if (!NAME.test(name)) refuse('name', '1 to 30 of a-z, 0-9 and single hyphens', name);
  if (!PREFIX.test(prefix)) refuse('prefix', 'names of letters, digits and _ . = -, with a slash between them', prefix);
  const minutes = every.toMinutes({ integral: false });
  if (minutes < LEAST.toMinutes() || minutes > MOST.toMinutes() || !Number.isInteger(minutes))
    refuse('every', '5 minutes to a day, in whole minutes', every.toHumanString());
  return { name, every, format, compression, prefix, read };
}
