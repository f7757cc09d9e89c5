import type { Login } from '../data-api/connections.ts';
import type { RightsByKey } from '../iam/rights.ts';

/** A cluster of the RDS Data API, and who comes to it with no secret that is known here. */
export interface ServedCluster extends Login {
  readonly resourceArn: string;
}

export type ToService =
  | 'stop'
  | { readonly clusters: readonly ServedCluster[] }
  | { readonly id: number; readonly rights: RightsByKey };

/** What it tells: where it is; what it refused; that it judges by rights, or why it cannot. */
export type FromService =
  | { readonly url: string }
  | { readonly refused: string }
  | { readonly id: number; readonly unjudged?: string };
