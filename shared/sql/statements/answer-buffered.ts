import type { Statement } from '../client.ts';
import { IS_NOT_FENCED } from './deletion-fence.ts';
import { anyOfCopies, BY_COPY, keyParameters, keysOf } from './copy-key.ts';
import type { BufferedCell } from './insert-buffered.ts';

/**
 * Counts a writer of each copy that is answered `buffered`: where all were, the cell was never acknowledged as stored,
 * and gives way to one that was. None of a datastore that is being deleted: its copies are counted already, or gone.
 */
export function answerBuffered(datastore: string, cells: readonly BufferedCell[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET answered = answered + 1 WHERE (${anyOfCopies(cells.length)}) AND ${IS_NOT_FENCED}`,
    parameters: [...keyParameters(keysOf(datastore, cells)), datastore],
  };
}
