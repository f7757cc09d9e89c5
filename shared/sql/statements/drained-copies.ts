import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, BY_COPY, keyParameters, type CopyKey } from './copy-key.ts';

/**
 * Copies that were drained, which a group keeps for a while: what a primary gets back that is set back in time. A table
 * of its own, by the order in which they were drained, so that the buffer stays as small as it is without it, and a
 * write pays nothing for it.
 */
const KEPT = 'datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, stored_at';

/**
 * Keeps copies that are about to be deleted from the buffer, in the order in which they came. One that was kept before
 * has been drained again.
 *
 * @param rows few: their bodies are written once more, each of up to a MiB
 */
export function keepDrained(rows: readonly CopyKey[]): Statement {
  return {
    sql: `REPLACE INTO ${CONTROL}.drained (${KEPT}) SELECT ${KEPT} FROM ${BY_COPY} WHERE ${anyOfCopies(rows.length)} ORDER BY id`,
    parameters: keyParameters(rows),
  };
}

/** The highest id of all that are kept; 0 where none are. */
export function selectLastDrained(): Statement {
  return { sql: `SELECT COALESCE(MAX(id), 0) FROM ${CONTROL}.drained`, parameters: [] };
}

export function toLastDrained([row]: readonly SqlRow[]): number {
  return toNumber(row?.[0]);
}

/** Deletes the first that were kept, up to an id: by it, since nobody gives ids of this table to others. */
export function deleteDrained(upTo: number, limit: number): Statement {
  return { sql: `DELETE FROM ${CONTROL}.drained WHERE id <= ? ORDER BY id LIMIT ?`, parameters: [upTo, limit] };
}
