import type { Statement } from '../client.ts';
import { anyOfCopies, BY_COPY, keyParameters, keysOf } from './copy-key.ts';
import type { BufferedCell } from './insert-buffered.ts';

/**
 * Counts a writer of each copy that is answered `buffered`: where all were, the cell was never acknowledged as stored,
 * and gives way to one that was.
 */
export function answerBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET answered = answered + 1 WHERE ${anyOfCopies(cells.length)}`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}
