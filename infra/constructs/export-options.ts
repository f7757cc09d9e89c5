import { Duration } from 'aws-cdk-lib';

export interface ExportOptions {
  /** 1 to 30 of a-z, 0-9 and single hyphens; unique in the datastore. @default the format */
  readonly name?: string;
  /** 5 minutes to a day, in whole minutes. @default an hour */
  readonly every?: Duration;
  /** `ndjson` can be imported again; `parquet` is for analysis. Fixed. @default ndjson */
  readonly format?: 'ndjson' | 'parquet';
  /** For NDJSON; Parquet uses snappy. Fixed. @default gzip */
  readonly compression?: 'gzip' | 'zstd' | 'none';
  /** The place in the bucket: up to 200 of letters, digits and `_ . = -` with single slashes. @default the datastore */
  readonly prefix?: string;
  /** Who answers reads of the logs; readers may be behind. @default writer */
  readonly read?: 'writer' | 'reader';
}

export type CheckedExport = Required<ExportOptions>;

const LEAST = Duration.minutes(5);
const MOST = Duration.days(1);
const NAME = /^(?=.{1,30}$)[a-z0-9]+(?:-[a-z0-9]+)*$/u;
const PREFIX = /^(?=.{1,200}$)[\w.=-]+(?:\/[\w.=-]+)*$/u;

/** Throws an Error that names the option. */
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
