import type { LookUpKey } from '../../../shared/store/look-ups.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import type { HttpRequest } from '../request.ts';

/** Answers many reads in one batch, as their operations would: most of a read's cost does not grow with the batch. */
export interface BatchedReads {
  /** The operations whose reads it answers, each with a function from read to key, which throws for an invalid path. */
  readonly keyOf: Readonly<Record<string, (read: Pick<HttpRequest, 'path'>) => LookUpKey>>;
  /**
   * `request`: has the query of all reads. `tell`: called once for each read with its key's position and a function
   * that returns or throws its answer. Resolves after the last; rejects with the error of all reads that were not told.
   */
  readonly answer: (
    keys: readonly LookUpKey[],
    request: HttpRequest,
    deployment: Deployment,
    tell: (position: number, answer: () => Answer) => void,
  ) => Promise<void>;
}
