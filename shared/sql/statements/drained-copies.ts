import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, BY_COPY, keyParameters, type CopyKey } from './copy-key.ts';

/** Drained hints, kept for a primary restored to a point in time. A separate table costs writes nothing. */
const KEPT = 'datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, stored_at';

/** Keeps a few hints, since bodies are written again, that are about to be deleted from the buffer. */
export function keepDrained(rows: readonly CopyKey[]): Statement {
  return {
    sql: `REPLACE INTO ${CONTROL}.drained (${KEPT}) SELECT ${KEPT} FROM ${BY_COPY} WHERE ${anyOfCopies(rows.length)} ORDER BY id`,
    parameters: keyParameters(rows),
  };
}

export function selectLastDrained(): Statement {
  return { sql: `SELECT COALESCE(MAX(id), 0) FROM ${CONTROL}.drained`, parameters: [] };
}

export function toLastDrained([row]: readonly SqlRow[]): number {
  return toNumber(row?.[0]);
}

/** Deletes the first kept hints up to an id; ids of this table are never given again. */
export function deleteDrained(upTo: number, limit: number): Statement {
  return { sql: `DELETE FROM ${CONTROL}.drained WHERE id <= ? ORDER BY id LIMIT ?`, parameters: [upTo, limit] };
}
