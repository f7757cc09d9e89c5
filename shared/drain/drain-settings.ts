export interface DrainSettings {
  /**
   * Rows younger than this are still with their writer. By the clock of who drains, since it first saw them. @default 2
   */
  readonly minimumAgeSeconds?: number;
  /**
   * Rows of a primary that are looked at together, where one shard or a few have many; of many shards up to four each, of
   * one no more than 300. A statement asks for all of them, on each of its nodes, and is felt by its own writes.
   * @default 100
   */
  readonly pageRows?: number;
  /** Appends a second to each primary: its own writes come first. @default by what waits for it: see `rateFor` */
  readonly appendsPerSecond?: number;
  /** Faults of one row before it is parked. @default 5 */
  readonly maxAttempts?: number;
  /**
   * Copies are kept for so long after they were drained, for a primary that is set back in time by less than that.
   * @default 0, they are deleted
   */
  readonly keepCopiesSeconds?: number;
}

export interface DrainReport {
  /** Rows looked at. */
  seen: number;
  /** Rows deleted: every node that could be promoted shows the cell. */
  drained: number;
  /** Rows whose cell was appended to its primary just now; they go once the readers show it. */
  appended: number;
  conflicts: number;
  /** Faults of rows themselves. */
  failed: number;
  /** Primaries that could not be asked. */
  readonly unreachable: Set<string>;
  /** Shards, as `trips/233`, that took nothing: their primary refuses it, or they are closed. */
  readonly refused: Set<string>;
}

export function emptyReport(): DrainReport {
  return { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0, unreachable: new Set(), refused: new Set() };
}
