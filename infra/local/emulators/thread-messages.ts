import type { RightsByKey } from '../iam/rights.ts';

/** What the thread of a service is told. */
export type ToService = 'stop' | { readonly rights: RightsByKey };

/** What it tells: where it is; that it has the rights; what it refused; that it cannot judge them. */
export type FromService =
  | { readonly url: string }
  | { readonly hasRights: true }
  | { readonly refused: string }
  | { readonly unjudged: string };
