import type { CellAddress, ErasureScope } from '../../cell.ts';

/**
 * What a trigger's queue carries for each cell: a pointer; the consumer fetches what else it needs. JSON, in this
 * order.
 */
export interface TriggerMessage extends CellAddress {
  /**
   * This is of no cell, but of an erasure, in its place in the log: of the row (the column name is empty), of its column,
   * of the versions up to the ref key, or of the cell. @default it is of a cell
   */
  readonly erasure?: ErasureScope;
  readonly datastore: string;
  readonly trigger: string;
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Sent again on purpose: after a rewind, since its queue could not be trusted, or since it was parked. */
  readonly replay: boolean;
  /**
   * Under which it was sent: goes up with each rewind, and where a log was cut. Where all was sent again, messages of
   * lower ones are void.
   */
  readonly generation: number;
}
