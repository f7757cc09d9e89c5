import { createHash } from 'node:crypto';
import { rowKeyBytes } from '../../address.ts';
import { toSqlTime } from '../../time.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import type { EncodedCell } from './append-cells.ts';

export interface BufferedCell extends EncodedCell {
  readonly shard: number;
}

/**
 * Puts copies of writes into a secondary's buffer table.
 *
 * Unique by address and body hash: ten retries make one row, and a second body for an address is never swallowed.
 * `writers` counts who relies on the row, so that one writer's conflict does not take away the copy of another that
 * was answered 202.
 *
 * A copy of a restored cell has its time, so that whoever appends it in place of its writer does not give it another; not
 * where a writer of a new cell relies on it, too, whose cell is not to be older than its request.
 *
 * A copy that was set aside, or whose bytes were damaged since, waits anew for the write that relies on it now: it is
 * what a promoted writer would get back.
 */
export function insertBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    mayShareCommit: true,
    table: `${CONTROL}.buffer`,
    sql:
      `INSERT INTO ${CONTROL}.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, stored_at) ` +
      `VALUES ${cells.map(() => '(?, ?, ?, ?, ?, ?, ?, SYSDATE(6), ?)').join(', ')} ` +
      `ON DUPLICATE KEY UPDATE body = VALUES(body), attempts = 0, state = IF(state IN ('conflict', 'parked'), 'waiting', state), writers = writers + 1, stored_at = IF(VALUES(stored_at) IS NULL, NULL, stored_at)`,
    parameters: cells.flatMap((cell): SqlParameter[] => [
      datastore,
      cell.shard,
      rowKeyBytes(cell.row_key),
      Buffer.from(cell.column_name),
      cell.ref_key,
      cell.encoded,
      bodyHash(cell.encoded),
      cell.stored_at === undefined ? null : toSqlTime(cell.stored_at),
    ]),
  };
}

/** SHA-256 of the encoded body. */
export function bodyHash(encoded: Uint8Array): Buffer {
  return createHash('sha256').update(encoded).digest();
}
