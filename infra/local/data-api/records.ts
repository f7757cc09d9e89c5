import type { FieldPacket } from 'mysql2';
import { columnTypeOf, type FieldKind } from './column-type.ts';
import { DataApiException } from './exceptions.ts';
import { ExactNumber, stringifyExactly } from './exact-json.ts';
import type { Field } from './field.ts';

/** A row as the text protocol sends it: a column's bytes, or null. */
export type RawRow = readonly (Buffer | null)[];

interface RecordOptions {
  /** `longReturnType: STRING`. */
  readonly longAsString: boolean;
  /** `decimalReturnType: DOUBLE_OR_LONG`. */
  readonly decimalAsNumber: boolean;
}

const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/** The rows as the API's fields. Throws a `DataApiException` for a column of a type that the API does not know. */
export function toRecords(columns: readonly FieldPacket[], rows: readonly RawRow[], options: RecordOptions): Field[][] {
  const kinds = columns.map((column) => {
    const { kind, typeName } = columnTypeOf(column);
    if (kind === 'unsupported')
      throw new DataApiException(
        'UnsupportedResultException',
        `The result contains the unsupported data type ${typeName}`,
      );
    return { kind, hasScale: column.decimals > 0 };
  });
  return rows.map((row) =>
    row.map((bytes, index) => toField(bytes, kinds[index]?.kind ?? 'string', kinds[index]?.hasScale ?? false, options)),
  );
}

function toField(
  bytes: Buffer | null,
  kind: FieldKind,
  hasScale: boolean,
  { longAsString, decimalAsNumber }: RecordOptions,
): Field {
  if (bytes === null) return { isNull: true };
  if (kind === 'blob') return { blobValue: bytes.toString('base64') };
  // BIT(1) comes as a byte, TINYINT(1) as digits.
  if (kind === 'boolean')
    return {
      booleanValue: bytes.length === 1 && (bytes[0] ?? 0) <= 1 ? bytes[0] === 1 : bytes.toString('latin1') !== '0',
    };
  const text = bytes.toString('utf8');
  if (kind === 'long') return longAsString ? { stringValue: text } : longField(text);
  if (kind === 'double') return { doubleValue: Number(text) };
  if (kind === 'decimal' && decimalAsNumber) return hasScale ? { doubleValue: Number(text) } : longField(text);
  return { stringValue: text };
}

/** A longValue is a signed 64-bit number: what an unsigned column holds beyond it comes as a string. */
export function longField(text: string): Field {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return { longValue: value };
  const exact = BigInt(text);
  return exact < LONG_MIN || exact > LONG_MAX ? { stringValue: text } : { longValue: new ExactNumber(text) };
}

/** The records as a JSON text: an object for each row, by column label. */
export function formatRecords(columns: readonly FieldPacket[], records: readonly (readonly Field[])[]): string {
  return stringifyExactly(
    records.map((record) =>
      Object.fromEntries(record.map((field, index) => [columns[index]?.name ?? '', plainValue(field)])),
    ),
  );
}

function plainValue(field: Field): unknown {
  return 'isNull' in field ? null : Object.values(field)[0];
}
