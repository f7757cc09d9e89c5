import { rowKeyBytes } from '../../address.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import type { CopyKey } from './copy-key.ts';
import { PLACE } from './select-buffered.ts';

/**
 * The copies for one shard of writes that somebody may have been told are stored, in the order of the table's unique key:
 * all bodies of an address lie together, however many there are. Also those that wait for an operator's word, and those
 * that were set aside.
 *
 * The key is named: in the order that is asked for, the unique key would be read through for all shards.
 *
 * @param after the last copy read @default the first page
 */
export function selectUnanswered(datastore: string, shard: number, after: CopyKey | undefined, limit: number): Statement {
  const beyond: SqlParameter[] = after ? [rowKeyBytes(after.row_key), Buffer.from(after.column_name), after.ref_key, after.body_hash] : [];
  return {
    sql:
      `SELECT ${PLACE} FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state IN ('waiting', 'undecided', 'parked') AND datastore = ? AND shard = ? ` +
      `AND answered < writers ${after ? 'AND (row_key, column_name, ref_key, body_hash) > (?, ?, ?, ?) ' : ''}` +
      `ORDER BY row_key, column_name, ref_key, body_hash LIMIT ?`,
    parameters: [datastore, shard, ...beyond, limit],
  };
}
