export interface MappedShard {
  readonly shard: number;
  readonly group: string;
  /** Undefined: its group cannot be asked. */
  readonly head: number | undefined;
  /** Cells a second, between the last two looks; undefined after the first. */
  readonly rate: number | undefined;
  readonly error: string | undefined;
  readonly isMoving: boolean;
}
