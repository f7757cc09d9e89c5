import type { RightsByKey } from '../iam/rights.ts';

/** What the thread of a service is told. */
export type ToService = 'stop' | { readonly id: number; readonly rights: RightsByKey };

/** What it tells: where it is; what it refused; that it judges by rights, or why it cannot. */
export type FromService =
  | { readonly url: string }
  | { readonly refused: string }
  | { readonly id: number; readonly unjudged?: string };
