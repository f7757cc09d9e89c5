import { createHash } from 'node:crypto';
import type { BufferedCell } from '../encoded-cell.ts';
import { rowKeyBytes } from '../../address.ts';
import { toSqlTime } from '../../time.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** Bytes of the column: 500 writes. A full hint counts as maybe stored. */
const MOST_WRITERS = 4000;

/**
 * Puts hints into a secondary's buffer table.
 *
 * - Unique by address and body hash: ten retries make one row, and a second body is never swallowed.
 * - `writers` lists the writes that rely on the row: one write's conflict takes away no other's hint. The statement may
 *   be sent again after an unclear end.
 * - A hint of a restored cell keeps its time, unless a writer of a new cell relies on it too.
 * - A hint that was set aside, or damaged, waits again: a promoted writer would get it back.
 */
export function insertBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    mayShareCommit: true,
    hints: { datastore, cells },
    table: `${CONTROL}.buffer`,
    sql:
      `INSERT INTO ${CONTROL}.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, stored_at, writers) ` +
      `VALUES ${cells.map(() => '(?, ?, ?, ?, ?, ?, ?, SYSDATE(6), ?, ?)').join(', ')} ` +
      `ON DUPLICATE KEY UPDATE body = VALUES(body), attempts = 0, state = IF(state IN ('conflict', 'parked'), 'waiting', state), shown = GREATEST(shown, OCTET_LENGTH(writers) >= ${MOST_WRITERS}), writers = IF(LOCATE(VALUES(writers), writers) > 0 OR OCTET_LENGTH(writers) >= ${MOST_WRITERS}, writers, CONCAT(writers, VALUES(writers))), stored_at = IF(VALUES(stored_at) IS NULL, NULL, stored_at)`,
    parameters: cells.flatMap((cell): SqlParameter[] => [
      datastore,
      cell.shard,
      rowKeyBytes(cell.row_key),
      Buffer.from(cell.column_name),
      cell.ref_key,
      cell.encoded,
      bodyHash(cell.encoded),
      cell.stored_at === undefined ? null : toSqlTime(cell.stored_at),
      cell.writer,
    ]),
  };
}

export function bodyHash(encoded: Uint8Array): Buffer {
  return createHash('sha256').update(encoded).digest();
}
