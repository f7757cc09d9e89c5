import { rowKeyBytes } from '../../address.ts';
import type { SqlParameter } from '../client.ts';
import { CONTROL } from '../names.ts';
import { bodyHash, type BufferedCell } from './insert-buffered.ts';
import type { CopyTable, WaitingRow } from './select-buffered.ts';

/**
 * A row of a buffer table by its unique key `copy`: one write of one body to one address. Rows are changed by this
 * alone, never by their ids: a replica that is promoted without the last rows gives their ids to other writes, and a
 * statement that was decided on before, or comes late, would meet those.
 */
export const SAME_COPY = '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash = ?)';

/** The table as it is read and written by that key: see `copyHint`. */
export const BY_COPY = `${CONTROL}.buffer FORCE INDEX (copy)`;

/**
 * The same for a DELETE, in which MySQL takes no other hint; to MariaDB, which takes the key without one, it is a comment.
 *
 * Without them MySQL goes by the statistics of the table, and of few rows reads, and locks, all: a table that is empty as
 * a rule, and fills while a primary is down, has statistics of before for some seconds, and so has one that was just
 * written anew.
 */
export function copyHint(table: CopyTable): string {
  return `/*+ INDEX(${table} copy) */`;
}

export type CopyKey = Pick<WaitingRow, 'datastore' | 'row_key' | 'column_name' | 'ref_key' | 'body_hash'>;

/**
 * The condition that names each of the rows. Several as tuples, which both engines plan in less time than conditions for
 * each column with an OR between rows; of a single tuple MariaDB makes no look-up, and reads the whole table.
 */
export function anyOfCopies(count: number): string {
  if (count === 1) return SAME_COPY;
  const rows = Array.from({ length: count }, () => '(?, ?, ?, ?, ?)');
  return `(datastore, row_key, column_name, ref_key, body_hash) IN (${rows.join(', ')})`;
}

export function keyParameters(rows: readonly CopyKey[]): SqlParameter[] {
  return rows.flatMap(({ datastore, row_key, column_name, ref_key, body_hash }): SqlParameter[] => [
    datastore,
    rowKeyBytes(row_key),
    Buffer.from(column_name),
    ref_key,
    body_hash,
  ]);
}

/** The rows that a writer put there. */
export function keysOf(datastore: string, cells: readonly BufferedCell[]): CopyKey[] {
  return cells.map(({ row_key, column_name, ref_key, encoded }) => ({
    datastore,
    row_key,
    column_name,
    ref_key,
    body_hash: bodyHash(encoded),
  }));
}
