import type { BufferedCell } from '../encoded-cell.ts';
import { rowKeyBytes } from '../../address.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { bodyHash } from './insert-buffered.ts';
import type { CopyTable, WaitingRow } from './select-buffered.ts';

/** Names a hint by its key `copy`, never by id: a promoted replica gives ids of lost rows to other writes. */
export const SAME_COPY = '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash = ?)';

export const BY_COPY = `${CONTROL}.buffer FORCE INDEX (copy)`;

/**
 * The hint for a DELETE, in which MySQL takes no FORCE INDEX; for MariaDB, which needs none, it is a comment. Without
 * it MySQL may go by the statistics of a table that was empty a moment ago, and read and lock all rows.
 */
export function copyHint(table: CopyTable): string {
  return `/*+ INDEX(${table} copy) */`;
}

export type CopyKey = Pick<WaitingRow, 'datastore' | 'row_key' | 'column_name' | 'ref_key' | 'body_hash'>;

/** Names several rows by tuples, which plan fastest; for a single tuple MariaDB reads the whole table. */
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

/** Changes the hints of some keys that are as `which` says. */
export function updateCopies(
  set: string,
  which: string,
  rows: readonly CopyKey[],
  bound: readonly SqlParameter[] = [],
): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET ${set} WHERE ${which} AND (${anyOfCopies(rows.length)})`,
    parameters: [...bound, ...keyParameters(rows)],
  };
}

export function keysOf(datastore: string, cells: readonly BufferedCell[]): CopyKey[] {
  return cells.map(({ row_key, column_name, ref_key, encoded }) => ({
    datastore,
    row_key,
    column_name,
    ref_key,
    body_hash: bodyHash(encoded),
  }));
}
