import type { Connection, FieldPacket, ResultSetHeader } from 'mysql2';
import { cut } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import { LONG_MAX } from './request.ts';

/** The most that the server sends for a result, without its framing. */
const RESULT_BYTES = 1024 * 1024;
const ROW_BYTES = 64 * 1024;

export type StatementResult =
  | { readonly kind: 'rows'; readonly columns: readonly FieldPacket[]; readonly rows: readonly RawRow[] }
  | { readonly kind: 'change'; readonly affectedRows: number; readonly insertId: number };

/** Runs one statement, up to the limits; of several results the first with rows. Throws a `DataApiException`. */
export function runStatement(connection: Connection, sql: string): Promise<StatementResult> {
  return new Promise((resolve, reject) => {
    let columns: readonly FieldPacket[] | undefined;
    const rows: RawRow[] = [];
    let header: ResultSetHeader | undefined;
    let readsRows = false;
    let bytes = 0;
    const tooLarge = (name: 'UnsupportedResultException' | 'DatabaseErrorException', message: string): void => {
      cut(connection);
      reject(new DataApiException(name, message));
    };
    const fail = (error: unknown): void => reject(exceptionOf(error));
    // Only the connection reports its loss, and errors that the driver meets while it reads.
    connection.once('error', fail);
    // Without a callback the driver keeps nothing of the result.
    const query = connection.query({ sql, rowsAsArray: true, typeCast: false });
    query.on('fields', (fields: readonly FieldPacket[] | undefined) => {
      readsRows = fields !== undefined && columns === undefined;
      columns ??= fields;
    });
    query.on('result', (result: RawRow | ResultSetHeader) => {
      if (!isRow(result)) {
        header = result;
        return;
      }
      if (!readsRows) return;
      const size = result.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      bytes += size;
      if (size > ROW_BYTES)
        return tooLarge('DatabaseErrorException', `Packet for query is too large (${size} > ${ROW_BYTES})`);
      if (bytes > RESULT_BYTES) return tooLarge('UnsupportedResultException', 'Database response exceeded size limit');
      rows.push(result);
    });
    query.on('error', fail);
    query.on('end', () => {
      connection.off('error', fail);
      if (columns) return resolve({ kind: 'rows', columns, rows });
      const { affectedRows = 0, insertId = 0 } = header ?? {};
      return resolve({ kind: 'change', affectedRows, insertId });
    });
  });
}

function isRow(result: RawRow | ResultSetHeader): result is RawRow {
  return Array.isArray(result);
}

type RawRow = readonly (Buffer | null)[];

/** A value as the API writes it: one member; blobs are base64. */
type Field = Readonly<Record<string, unknown>>;

/** Types of the MySQL protocol. */
const TINY = 1;
const BIT = 16;
const INTEGERS = new Set([1, 2, 3, 8, 9]);
const FLOATS = new Set([4, 5]);
/** BLOB and its kin, BINARY and VARBINARY: text too, by their character set. */
const STRINGS = new Set([15, 249, 250, 251, 252, 253, 254]);
/** VECTOR and GEOMETRY. */
const UNSUPPORTED = new Set([242, 255]);
const UNSIGNED = 32;
const BINARY_CHARSET = 63;

/** Returns the rows as fields. Throws a `DataApiException` for a column of a type that the API does not know. */
export function toRecords(columns: readonly FieldPacket[], rows: readonly RawRow[], longAsString: boolean): Field[][] {
  const readers = columns.map((column) => readerOf(column, longAsString));
  return rows.map((row) =>
    row.map((bytes, index) => (bytes === null ? { isNull: true } : (readers[index]?.(bytes) ?? {}))),
  );
}

function readerOf(column: FieldPacket, longAsString: boolean): (bytes: Buffer) => Field {
  const { columnType: type = -1, columnLength } = column;
  if (UNSUPPORTED.has(type)) throw new DataApiException('UnsupportedResultException', `unsupported data type ${type}`);
  if (type === TINY && columnLength === 1 && (Number(column.flags) & UNSIGNED) === 0)
    return (bytes) => ({ booleanValue: bytes.toString('latin1') !== '0' });
  if (type === BIT && columnLength === 1) return (bytes) => ({ booleanValue: bytes[0] === 1 });
  if (INTEGERS.has(type)) return longAsString ? asText : (bytes) => longField(bytes.toString('latin1'));
  if (FLOATS.has(type)) return (bytes) => ({ doubleValue: Number(bytes.toString('latin1')) });
  const isBinary = type === BIT || (STRINGS.has(type) && column.characterSet === BINARY_CHARSET);
  // Decimals, times, JSON and enumerations travel as text.
  return isBinary ? (bytes) => ({ blobValue: bytes.toString('base64') }) : asText;
}

/** Returns all digits of an integer. Throws a `DataApiException` for one above 2^63-1, as AWS does. */
export function longField(digits: number | bigint | string): Field {
  const [number, integer] = [Number(digits), BigInt(digits)];
  if (integer <= LONG_MAX) return { longValue: Number.isSafeInteger(number) ? number : integer };
  const text = `Value '${integer}' is outside of valid range for type java.lang.Long`;
  throw new DataApiException('DatabaseErrorException', text);
}

function asText(bytes: Buffer): Field {
  return { stringValue: bytes.toString('utf8') };
}
