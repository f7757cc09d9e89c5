import type { Login } from '../data-api/connections.ts';
import type { RightsByKey } from '../iam/rights.ts';

/** A cluster of the RDS Data API, with the owner's login. */
export interface ServedCluster extends Login {
  readonly resourceArn: string;
}

export type ToService =
  | 'stop'
  | { readonly clusters: readonly ServedCluster[] }
  | { readonly id: number; readonly rights: RightsByKey };

/** Its URL, a refused call, or the answer to rights. */
export type FromService =
  | { readonly url: string }
  | { readonly refused: string }
  | { readonly id: number; readonly unjudged?: string };
