import type { CellAddress } from '../cell.ts';

/** What a trigger's queue carries for each cell: a pointer; the consumer fetches what else it needs. JSON, in this order. */
export interface TriggerMessage extends CellAddress {
  readonly datastore: string;
  readonly trigger: string;
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Sent again on purpose: after a rewind, or since it was parked. */
  readonly replay: boolean;
}
