import { rowKeyBytes } from '../../address.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { bodyHash, type BufferedCell } from './insert-buffered.ts';

/** A writer that was answered 409 takes itself off its buffered copies. */
export function withdrawBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.buffer SET writers = writers - 1 WHERE writers > 0 AND (${cells.map(() => SAME_COPY).join(' OR ')})`,
    parameters: copyAddresses(datastore, cells),
  };
}

/** Deletes the copies that nobody relies on any more. Two statements, so that the last writer to leave deletes. */
export function deleteWithdrawn(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `DELETE FROM ${CONTROL}.buffer WHERE writers = 0 AND (${cells.map(() => SAME_COPY).join(' OR ')})`,
    parameters: copyAddresses(datastore, cells),
  };
}

/** The unique key `copy`: exactly the row that the writer put there. */
export const SAME_COPY = '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash = ?)';

export function copyAddresses(datastore: string, cells: readonly BufferedCell[]): SqlParameter[] {
  return cells.flatMap((cell): SqlParameter[] => [datastore, rowKeyBytes(cell.row_key), Buffer.from(cell.column_name), cell.ref_key, bodyHash(cell.encoded)]);
}
