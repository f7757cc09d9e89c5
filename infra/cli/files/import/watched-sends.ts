import type { PutResult, TransactionResult } from '../../../../shared/cell.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';

/** The gateway's statuses for a caller without the right. */
const REFUSALS: readonly unknown[] = [401, 403];

interface Watching {
  readonly patienceMs: number;
  readonly areTimesKept: boolean;
  readonly fail: (error: unknown) => void;
}

/** Returns a function that sends. It calls `fail` for an error that no retry can fix, and if nothing is stored for too long. */
export function watchedSends({ patienceMs, areTimesKept, fail }: Watching) {
  let settledAt = performance.now();
  let whyNot = '';
  const checkPatience = (): void => {
    if (performance.now() - settledAt > patienceMs) fail(noProgress(patienceMs, whyNot));
  };
  return async <Result extends PutResult | TransactionResult>(
    send: () => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> => {
    try {
      const results = await send();
      const refused = results.find((result) => result.outcome === 'unavailable');
      if (refused?.outcome === 'unavailable') whyNot = `shard ${refused.shard}: ${refused.reason}`;
      if (results.some(({ outcome }) => outcome !== 'unavailable')) settledAt = performance.now();
      else checkPatience();
      return results;
    } catch (error) {
      if (!(error instanceof SchemalessError)) fail(error);
      else if (areTimesKept && REFUSALS.includes(error.details.more?.['answered'])) fail(timesRefused(error));
      else if (error.retry === 'later') {
        whyNot = `${error.code}: ${error.message}`;
        checkPatience();
      }
      throw error;
    }
  };
}

function noProgress(patienceMs: number, whyNot: string): FilesError {
  return new FilesError(
    'no_progress',
    `Nothing was stored for ${Math.round(patienceMs / 1000)} s (the last refusal: ${whyNot}); the same command continues from here`,
  );
}

function timesRefused(error: SchemalessError): FilesError {
  return new FilesError(
    'times_refused',
    `wanted the right to store cells with their times, which operators have, got: ${error.message}. ` +
      'With --new-times the cells of an export are stored with the time of now, as those of a file without --times',
    { cause: error },
  );
}
