import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, BY_COPY, copyHint, keyParameters, SAME_COPY, type CopyKey } from './copy-key.ts';

/** Deletes rows that are drained, since each of their primary's readers shows the same body, or whose cells were erased. */
export function deleteBuffered(rows: readonly CopyKey[]): Statement {
  return {
    sql: `DELETE ${copyHint('buffer')} FROM ${CONTROL}.buffer WHERE ${anyOfCopies(rows.length)}`,
    parameters: keyParameters(rows),
  };
}

/** Marks rows that lost against another body: they are never appended again, but kept and listed. */
export function markConflicts(rows: readonly CopyKey[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET state = 'conflict' WHERE state = 'waiting' AND (${anyOfCopies(rows.length)})`,
    parameters: keyParameters(rows),
  };
}

/**
 * Counts a fault of the row itself, never a refusal by a server; at `maxAttempts` it is parked, so that it is not tried
 * for ever.
 */
export function failBuffered(row: CopyKey, error: string, maxAttempts: number): Statement {
  return {
    sql:
      `UPDATE ${CONTROL}.buffer SET attempts = attempts + 1, last_error = ?, ` +
      `state = IF(attempts >= ?, 'parked', state) WHERE state = 'waiting' AND ${SAME_COPY}`,
    parameters: [error.slice(0, 500), maxAttempts, ...keyParameters([row])],
  };
}

/** Keeps why the server refused to take rows: they go on waiting. */
export function noteRefusal(rows: readonly CopyKey[], error: string): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET last_error = ? WHERE state = 'waiting' AND (${anyOfCopies(rows.length)})`,
    parameters: [error.slice(0, 500), ...keyParameters(rows)],
  };
}

/** Deletes kept conflicts of one datastore, on an operator's word. */
export function discardConflicts(datastore: string, ids: readonly number[]): Statement {
  return {
    sql: `DELETE /*+ INDEX(buffer PRIMARY) */ FROM ${CONTROL}.buffer WHERE state = 'conflict' AND datastore = ? AND id IN (${ids.map(() => '?').join(', ')})`,
    parameters: [datastore, ...ids],
  };
}
