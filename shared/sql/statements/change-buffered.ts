import { isSameTransaction } from '../../body/transaction-mark.ts';
import type { BufferedCell } from '../encoded-cell.ts';
import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import {
  anyOfCopies,
  BY_COPY,
  copyHint,
  keyParameters,
  keysOf,
  SAME_COPY,
  updateCopies,
  type CopyKey,
} from './copy-key.ts';

export function deleteBuffered(rows: readonly CopyKey[]): Statement {
  return {
    sql: `DELETE ${copyHint('buffer')} FROM ${CONTROL}.buffer WHERE ${anyOfCopies(rows.length)}`,
    parameters: keyParameters(rows),
  };
}

/** Marks hints that lost against another body: they are kept and listed, never appended. */
export function markConflicts(rows: readonly CopyKey[]): Statement {
  return updateCopies("state = 'conflict'", "state = 'waiting'", rows);
}

/** Faults of a row before it is parked. */
const MOST_FAULTS = 5;

/** Counts a fault of the row itself, never a refusal by a server; too often, and it is parked. */
export function failBuffered(row: CopyKey, error: string): Statement {
  return {
    sql:
      `UPDATE ${CONTROL}.buffer SET attempts = attempts + 1, last_error = ?, ` +
      `state = IF(attempts >= ?, 'parked', state) WHERE state = 'waiting' AND ${SAME_COPY}`,
    parameters: [error.slice(0, 500), MOST_FAULTS, ...keyParameters([row])],
  };
}

/** Records why the server refused rows; they keep waiting. */
export function noteRefusal(rows: readonly CopyKey[], error: string): Statement {
  return updateCopies('last_error = ?', "state = 'waiting'", rows, [error.slice(0, 500)]);
}

/** Deletes kept conflicts, and all hints of their transactions. */
export function discardConflicts(datastore: string, ids: readonly number[]): Statement {
  // DISTINCT makes the server read the table before it changes it.
  const those =
    `SELECT DISTINCT one.id FROM ${CONTROL}.buffer AS chosen FORCE INDEX (PRIMARY) STRAIGHT_JOIN ${CONTROL}.buffer AS one FORCE INDEX (copy) ` +
    `ON one.datastore = chosen.datastore AND one.row_key = chosen.row_key AND (one.id = chosen.id OR ${isSameTransaction('chosen', 'one')}) ` +
    `WHERE chosen.state = 'conflict' AND chosen.datastore = ? AND chosen.id IN (${ids.map(() => '?').join(', ')})`;
  return {
    sql: `DELETE ${CONTROL}.buffer FROM (${those}) AS those STRAIGHT_JOIN ${CONTROL}.buffer FORCE INDEX (PRIMARY) ON buffer.id = those.id WHERE buffer.state = 'conflict'`,
    parameters: [datastore, ...ids],
  };
}

/**
 * Marks hints of one write as answered `buffered`. A hint whose writers all were gives way to acknowledged cells,
 * unless
 * its append may have been done (`isShown`). Affects the hints that list the write.
 */
export function answerBuffered(datastore: string, cells: readonly BufferedCell[], isShown = false): Statement {
  const writer = writerOf(cells);
  const set = 'answered = IF(LOCATE(?, answered) > 0, answered, CONCAT(answered, ?)), shown = GREATEST(shown, ?)';
  return updateCopies(set, 'LOCATE(?, writers) > 0', keysOf(datastore, cells), [
    writer,
    writer,
    Number(isShown),
    writer,
  ]);
}

function writerOf([first]: readonly BufferedCell[]): Uint8Array {
  if (!first) throw new Error('wanted cells');
  return first.writer;
}

/** Notes that hints are about to be appended: from then on their bodies may be read, and must not be lost again. */
export function markShown(rows: readonly CopyKey[]): Statement {
  return updateCopies('shown = 1', 'shown = 0', rows);
}

/** Removes one write that was answered 409 from its hints. */
export function withdrawBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET writers = REPLACE(writers, ?, ''), answered = REPLACE(answered, ?, '') WHERE ${anyOfCopies(cells.length)}`,
    parameters: [writerOf(cells), writerOf(cells), ...keyParameters(keysOf(datastore, cells))],
  };
}

/** Deletes hints without writers. A second statement, so that the last writer to leave deletes. */
export function deleteWithdrawn(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `DELETE ${copyHint('buffer')} FROM ${CONTROL}.buffer WHERE writers = '' AND (${anyOfCopies(cells.length)})`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}
