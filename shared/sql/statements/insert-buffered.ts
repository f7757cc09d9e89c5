import { createHash, randomBytes } from 'node:crypto';
import { rowKeyBytes } from '../../address.ts';
import { toSqlTime } from '../../time.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import type { EncodedCell } from './append-cells.ts';

export interface BufferedCell extends EncodedCell {
  readonly shard: number;
}

/**
 * Puts hints into a secondary's buffer table.
 *
 * - Unique by address and body hash: ten retries make one row, and a second body is never swallowed.
 * - `writers` counts who relies on the row: one writer's conflict takes away no other's copy. The statement may be sent
 *   again after an unclear end: `counted_by` tells that it counts already.
 * - A hint of a restored cell keeps its time, unless a writer of a new cell relies on it too.
 * - A hint that was set aside, or damaged, waits again: a promoted writer would get it back.
 */
export function insertBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  const insert = randomBytes(8);
  return {
    mayShareCommit: true,
    table: `${CONTROL}.buffer`,
    sql:
      `INSERT INTO ${CONTROL}.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, stored_at, counted_by) ` +
      `VALUES ${cells.map(() => '(?, ?, ?, ?, ?, ?, ?, SYSDATE(6), ?, ?)').join(', ')} ` +
      `ON DUPLICATE KEY UPDATE body = VALUES(body), attempts = 0, state = IF(state IN ('conflict', 'parked'), 'waiting', state), writers = writers + (counted_by <> VALUES(counted_by)), counted_by = VALUES(counted_by), stored_at = IF(VALUES(stored_at) IS NULL, NULL, stored_at)`,
    parameters: cells.flatMap((cell): SqlParameter[] => [
      datastore,
      cell.shard,
      rowKeyBytes(cell.row_key),
      Buffer.from(cell.column_name),
      cell.ref_key,
      cell.encoded,
      bodyHash(cell.encoded),
      cell.stored_at === undefined ? null : toSqlTime(cell.stored_at),
      insert,
    ]),
  };
}

export function bodyHash(encoded: Uint8Array): Buffer {
  return createHash('sha256').update(encoded).digest();
}
