import type { CellAddress, ErasureScope } from '../../cell.ts';

/** The message of a cell in a trigger's queue: a pointer, from which the consumer fetches the rest. */
export interface TriggerMessage extends CellAddress {
  /** Set for an erasure: of the row (the column name is empty), its column, the versions up to the ref key, or the cell. */
  readonly erasure?: ErasureScope;
  readonly datastore: string;
  readonly trigger: string;
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Sent again on purpose: after a rewind, a resend, or as a retry of a parked cell. */
  readonly replay: boolean;
  /** Raised by each rewind and cut. After a resend, messages of lower generations are void. */
  readonly generation: number;
}
