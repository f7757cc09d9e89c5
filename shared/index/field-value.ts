import { rowKeyBytes, rowKeyOf } from '../address.ts';
import type { Json } from '../cell.ts';
import type { FieldType } from '../definitions/definitions.ts';
import { STRING_BYTES, toFieldValue, type FieldValue } from '../definitions/field-value.ts';
import { toBytes, toText } from '../sql/cell-rows.ts';
import type { SqlParameter, SqlValue } from '../sql/client.ts';
import { fromSqlTime, toSqlTime } from '../time.ts';

/** The column that holds values of a type. Bytes for text: no collation decides what is equal. */
export const COLUMN_TYPE: Readonly<Record<FieldType, string>> = {
  UUID: 'BINARY(16)',
  string: `VARBINARY(${STRING_BYTES})`,
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'TINYINT UNSIGNED',
  datetime: 'DATETIME(6)',
};

/**
 * The value that a body has at a field's path.
 *
 * @returns the value; null when it is missing or null; undefined when it is there and of another type
 */
export function readField(body: Json | undefined, path: string, type: FieldType): FieldValue | undefined {
  let value: Json | undefined = body;
  for (const segment of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, segment))
      return null;
    value = (value as { readonly [key: string]: Json })[segment];
  }
  return value === undefined || value === null ? null : toFieldValue(value, type);
}

/** A value as query strings write it. Undefined when it is none of this type. */
export function fromText(text: string, type: FieldType): FieldValue | undefined {
  switch (type) {
    case 'integer':
      if (!/^-?\d{1,20}$/.test(text)) return undefined;
      return Number.isSafeInteger(Number(text)) ? Number(text) : toFieldValue(BigInt(text), type);
    case 'number':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    default:
      return toFieldValue(text, type);
  }
}

export function toSql(value: FieldValue, type: FieldType): SqlParameter {
  if (value === null) return null;
  switch (type) {
    case 'UUID':
      return rowKeyBytes(String(value));
    case 'string':
      return Buffer.from(String(value));
    case 'boolean':
      return value === true ? 1 : 0;
    case 'datetime':
      return toSqlTime(String(value));
    default:
      return typeof value === 'bigint' ? value : Number(value);
  }
}

export function fromSql(value: SqlValue, type: FieldType): FieldValue {
  if (value === null) return null;
  switch (type) {
    case 'UUID':
      return rowKeyOf(toBytes(value));
    case 'string':
      return toText(value);
    case 'integer':
      return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(String(value));
    case 'number':
      return Number(value);
    case 'boolean':
      return Number(value) === 1;
    case 'datetime':
      return fromSqlTime(String(value));
    default:
      return type satisfies never;
  }
}

/** A value as a key of maps: values of one type that are equal give equal texts. */
export function keyOfValue(value: FieldValue): string {
  return String(value);
}
