import type { Connection, FieldPacket, ResultSetHeader } from 'mysql2';
import { cut } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import type { Limits } from './limits.ts';
import type { RawRow } from './records.ts';

/** What a statement gave: rows, or a count. */
export type StatementResult =
  | { readonly kind: 'rows'; readonly columns: readonly FieldPacket[]; readonly rows: readonly RawRow[] }
  | { readonly kind: 'change'; readonly affectedRows: number; readonly insertId: string };

/** A result that is too large ends its call, and its session with it. */
export class ResultTooLarge extends DataApiException {}

/**
 * Runs one statement and reads its result, no further than the limits let it. Of several results (CALL) the first one
 * with rows counts. Throws a `DataApiException`.
 */
export function runStatement(
  connection: Connection,
  sql: string,
  limits: Pick<Limits, 'resultBytes' | 'rowBytes' | 'singleStatement'>,
): Promise<StatementResult> {
  return new Promise((resolve, reject) => {
    let columns: readonly FieldPacket[] | undefined;
    let rows: RawRow[] = [];
    let header: ResultSetHeader | undefined;
    let readsRows = false;
    let bytes = 0;
    const tooLarge = (name: 'UnsupportedResultException' | 'DatabaseErrorException', message: string): void => {
      cut(connection);
      reject(new ResultTooLarge(name, message));
    };
    // Named for its events; without a callback nothing of it is kept by the driver.
    const query = connection.query({ sql, rowsAsArray: true, typeCast: false });
    query.on('fields', (fields: readonly FieldPacket[] | undefined) => {
      readsRows = fields !== undefined && (columns === undefined || !limits.singleStatement);
      if (!readsRows || !fields) return;
      columns = fields;
      rows = [];
      bytes = 0;
    });
    query.on('result', (result: RawRow | ResultSetHeader) => {
      if (!isRow(result)) {
        header = result;
        if (!limits.singleStatement) columns = undefined;
        return;
      }
      if (!readsRows) return;
      const size = result.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      bytes += size;
      if (size > limits.rowBytes)
        return tooLarge('DatabaseErrorException', `Packet for query is too large (${size} > ${limits.rowBytes})`);
      if (bytes > limits.resultBytes)
        return tooLarge('UnsupportedResultException', 'Database response exceeded size limit');
      rows.push(result);
    });
    query.on('error', (error: unknown) => reject(exceptionOf(error)));
    query.on('end', () => {
      if (columns) return resolve({ kind: 'rows', columns, rows });
      return resolve({
        kind: 'change',
        affectedRows: Number(header?.affectedRows ?? 0),
        insertId: String(header?.insertId ?? 0),
      });
    });
  });
}

function isRow(result: RawRow | ResultSetHeader): result is RawRow {
  return Array.isArray(result);
}
