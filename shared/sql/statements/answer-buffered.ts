import type { Statement } from '../client.ts';
import { anyOfCopies, BY_COPY, keyParameters, keysOf } from './copy-key.ts';
import type { BufferedCell } from './insert-buffered.ts';

/**
 * Counts a writer of each hint as answered `buffered`. A hint whose writers all were gives way to an acknowledged cell.
 */
export function answerBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET answered = answered + 1 WHERE ${anyOfCopies(cells.length)}`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}
