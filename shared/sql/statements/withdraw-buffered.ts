import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, BY_COPY, copyHint, keyParameters, keysOf } from './copy-key.ts';
import type { BufferedCell } from './insert-buffered.ts';

/** Takes a writer that was answered 409 off its hints. */
export function withdrawBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET writers = writers - 1 WHERE writers > 0 AND (${anyOfCopies(cells.length)})`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}

/** Deletes hints without writers. A second statement, so that the last writer to leave deletes. */
export function deleteWithdrawn(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `DELETE ${copyHint('buffer')} FROM ${CONTROL}.buffer WHERE writers = 0 AND (${anyOfCopies(cells.length)})`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}
