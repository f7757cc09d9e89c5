export interface DrainSettings {
  /** Younger rows are still with their writer, in seconds by the drain's clock. @default 2 */
  readonly minimumAgeSeconds?: number;
  /** Rows of a primary looked at together: up to four each of many shards, 300 of one. @default 100 */
  readonly pageRows?: number;
  /** Appends a second to each primary. @default by its backlog, see `rateFor` */
  readonly appendsPerSecond?: number;
  /** Faults of a row before it is parked. @default 5 */
  readonly maxAttempts?: number;
  /** How long drained hints are kept, for a primary restored to a point in time. @default 0 */
  readonly keepCopiesSeconds?: number;
}

export interface DrainReport {
  seen: number;
  /** Rows deleted: every node shows the cell. */
  drained: number;
  appended: number;
  conflicts: number;
  failed: number;
  readonly unreachable: Set<string>;
  /** Shards, as `trips/233`, that took nothing. */
  readonly refused: Set<string>;
}

export function emptyReport(): DrainReport {
  return { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0, unreachable: new Set(), refused: new Set() };
}
