import type { LookUpKey } from '../../../shared/store/look-ups.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import type { HttpRequest } from '../request.ts';

/** Answers many reads at once, each as its own operation would: most of what one costs is that it is one. */
export interface ReadsTogether {
  /** Whose reads it answers, and what each asks for. Throws what is wrong with its path. */
  readonly keyOf: Readonly<Record<string, (read: Pick<HttpRequest, 'path'>) => LookUpKey>>;
  /**
   * `request`: with the query of all of them. `tell`: told of each read by the place of its key, once: what it answers,
   * or throws. Returns once all are told; rejects with what is wrong with all that were not.
   */
  readonly answer: (
    keys: readonly LookUpKey[],
    request: HttpRequest,
    deployment: Deployment,
    tell: (position: number, answer: () => Answer) => void,
  ) => Promise<void>;
}
