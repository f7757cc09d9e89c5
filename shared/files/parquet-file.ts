import type { SchemaElement } from 'hyparquet';
import type { BasicType } from 'hyparquet-writer';
import { stringifyJson } from '../body/json.ts';
import type { Cell } from '../cell.ts';
import type { FieldValue } from '../contract/index-query.ts';
import type { FieldType } from '../definitions/definitions.ts';
import { readField } from '../definitions/field-value.ts';
import { sumFile, syncFile, type CellFile } from './cell-file.ts';
import type { TypedColumn } from './manifest.ts';
import type { IndexStatus } from '../api/indexes.ts';

/** Rows of a group are held in memory until it is written. */
const GROUP_ROWS = 20_000;
const GROUP_BYTES = 3 * 1024 * 1024;
/** Approximate bytes of a row without its body. */
const ROW_BYTES = 200;

type Stored = string | number | bigint | boolean | null;

interface Column {
  readonly element: SchemaElement;
  /** `text`: the JSON of the body. */
  readonly valueOf: (cell: Cell, text: string) => Stored;
}

/** The library is loaded with the first of these. */
export async function parquetFile(path: string, typed: readonly TypedColumn[]): Promise<CellFile> {
  const { fileWriter, ParquetWriter } = await import('hyparquet-writer');
  const columns = [...PLAIN_COLUMNS, ...typed.map(typedColumn)];
  const schema = [{ name: 'schema', num_children: columns.length }, ...columns.map(({ element }) => element)];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  let values: Stored[][] = columns.map(() => []);
  let [rows, bytes, textBytes] = [0, 0, 0];
  const flush = (): void => {
    if (rows === 0) return;
    const columnData = columns.map(({ element: { name } }, position) => ({ name, data: values[position] ?? [] }));
    void writer.write({ columnData, rowGroupSize: rows });
    values = columns.map(() => []);
    [rows, bytes] = [0, 0];
  };
  return {
    get textBytes() {
      return textBytes;
    },
    async write(cells) {
      for (const cell of cells) {
        const text = hasBody(cell) ? stringifyJson(cell.body) : '';
        for (const [position, { valueOf }] of columns.entries()) values[position]?.push(valueOf(cell, text));
        rows += 1;
        bytes += text.length + ROW_BYTES;
        textBytes += text.length + ROW_BYTES;
        if (rows >= GROUP_ROWS || bytes >= GROUP_BYTES) flush();
      }
    },
    async finish() {
      flush();
      await writer.finish();
      await syncFile(path);
      return sumFile(path);
    },
    discard: async () => undefined,
  };
}

/** Erasures are rows, too, so that added ids have no holes. */
function hasBody({ erased, erasure, error }: Cell): boolean {
  return erased !== true && erasure === undefined && error === undefined;
}

type Kind = Omit<SchemaElement, 'name'>;

function column(name: string, kind: Kind, valueOf: Column['valueOf']): Column {
  return { element: { repetition_type: 'REQUIRED', ...kind, name }, valueOf };
}

const INT32: Kind = { type: 'INT32' };
const INT64: Kind = { type: 'INT64' };
const TEXT: Kind = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const TIME: Kind = { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' };

const KIND: Readonly<Record<FieldType, Kind>> = {
  UUID: TEXT,
  string: TEXT,
  integer: INT64,
  number: { type: 'DOUBLE' satisfies BasicType },
  boolean: { type: 'BOOLEAN' },
  datetime: TIME,
};

const PLAIN_COLUMNS = [
  column('shard', INT32, ({ shard }) => shard),
  column('added_id', INT64, ({ added_id }) => BigInt(added_id)),
  column('row_key', TEXT, ({ row_key }) => row_key),
  column('column_name', TEXT, ({ column_name }) => column_name),
  column('ref_key', INT64, ({ ref_key }) => BigInt(ref_key)),
  column('created_at', TIME, ({ created_at }) => microseconds(created_at)),
  column('erased', { type: 'BOOLEAN' }, ({ erased }) => erased === true),
  column('body', { ...TEXT, repetition_type: 'OPTIONAL' }, (cell, text) => (hasBody(cell) ? text : null)),
];

function typedColumn({ name, field, type, column_name }: TypedColumn): Column {
  return column(name, { ...KIND[type], repetition_type: 'OPTIONAL' }, (cell) => {
    if (cell.column_name !== column_name || !hasBody(cell)) return null;
    return stored(readField(cell.body, field, type) ?? null, type);
  });
}

/** A field of another type than its index says is null, as it is in the index. */
function stored(value: FieldValue, type: FieldType): Stored {
  if (value === null) return null;
  if (type === 'integer') return BigInt(value as number | bigint);
  return type === 'datetime' ? microseconds(String(value)) : value;
}

/** Since 1970, of a time with six decimals in UTC: a Date would drop three of them. */
function microseconds(time: string): bigint {
  const [seconds = '', decimals = '0'] = time.replace(/Z$/u, '').split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(decimals.padEnd(6, '0').slice(0, 6));
}

/**
 * Returns a column for each indexed field: `fare.total` is `fare_total`. The column name comes first if names collide.
 * Columns `given` by earlier parts keep their names and places, so that one table holds all parts.
 */
export function typedColumns(
  indexes: readonly Pick<IndexStatus, 'fields'>[],
  given: readonly TypedColumn[] = [],
): readonly TypedColumn[] {
  const known = new Set(given.map(({ field, type, column_name }) => `${field} ${type} ${column_name}`));
  const fields = new Map(
    indexes
      .flatMap((index) => index.fields)
      .map((field) => [`${field.field} ${field.type} ${field.column_key}`, field] as const)
      .filter(([key]) => !known.has(key)),
  );
  const taken = new Map(
    [...PLAIN_COLUMNS.map(({ element }) => element.name), ...given.map(({ name }) => name)].map((name) => [name, 1]),
  );
  const used = new Set(taken.keys());
  for (const { field } of fields.values()) taken.set(named(field), (taken.get(named(field)) ?? 0) + 1);
  const fresh = [...fields.values()].map(({ field, type, column_key }) => {
    const long = named(`${column_key}_${field}`);
    let name = (taken.get(named(field)) ?? 0) > 1 ? long : named(field);
    for (let position = 2; used.has(name); position += 1) name = `${long}_${position}`;
    used.add(name);
    return { name, field, type, column_name: column_key };
  });
  return [...given, ...fresh];
}

/** Names of Athena: letters, digits and underscores; it makes no difference of cases. */
function named(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9_]/gu, '_');
}
