import type { FieldType } from '../../../../shared/definitions/definitions.ts';
import type { TypedColumn } from '../../../../shared/files/manifest.ts';

const TYPE: Readonly<Record<FieldType, string>> = {
  UUID: 'string',
  string: 'string',
  integer: 'bigint',
  number: 'double',
  boolean: 'boolean',
  datetime: 'timestamp',
};

/** The statement that makes a table of Athena over an export in Parquet, all parts of it and those to come. */
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
