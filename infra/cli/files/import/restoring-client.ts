import type { RestoredCell } from '../../../../shared/cell.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';

/** What the gateway answers to who may not. */
const REFUSALS: readonly unknown[] = [401, 403];

/**
 * A client whose batches store cells with the times that they bring.
 *
 * @throws FilesError `times_refused` where the API does not let the caller
 */
export function restoringClient({
  batchRestore,
}: Pick<SchemalessClient, 'batchRestore'>): Pick<SchemalessClient, 'batchPut'> {
  return {
    async batchPut(cells) {
      try {
        // Its sources give them with their times.
        return await batchRestore(cells as readonly RestoredCell[]);
      } catch (error) {
        if (!isRefused(error)) throw error;
        throw new FilesError(
          'times_refused',
          `wanted the right to store cells with their times, which operators have, got: ${error.message}. ` +
            'With --new-times the cells of an export are stored with the time of now, as those of a file without --times',
          { cause: error },
        );
      }
    },
  };
}

function isRefused(error: unknown): error is SchemalessError {
  return error instanceof SchemalessError && REFUSALS.includes(error.details.more?.['answered']);
}
