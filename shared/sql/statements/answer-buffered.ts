import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, keyParameters, keysOf } from './copy-key.ts';
import type { BufferedCell } from './insert-buffered.ts';

/**
 * Counts a writer of each copy that is answered `buffered`: where all were, the cell was never acknowledged as stored,
 * and gives way to one that was.
 */
export function answerBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.buffer SET answered = answered + 1 WHERE ${anyOfCopies(cells.length)}`,
    parameters: keyParameters(keysOf(datastore, cells)),
  };
}
