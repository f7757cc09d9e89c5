import type { Connection, FieldPacket, ResultSetHeader } from 'mysql2';
import { cut } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import type { RawRow } from './records.ts';

/** What the server sends for a result, without its framing. */
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
    query.on('error', (error: unknown) => reject(exceptionOf(error)));
    query.on('end', () => {
      if (columns) return resolve({ kind: 'rows', columns, rows });
      const { affectedRows = 0, insertId = 0 } = header ?? {};
      return resolve({ kind: 'change', affectedRows: Number(affectedRows), insertId: Number(insertId) });
    });
  });
}

function isRow(result: RawRow | ResultSetHeader): result is RawRow {
  return Array.isArray(result);
}
