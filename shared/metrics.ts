/**
 * Metrics that functions give and alarms look at, under one name on both sides. Outcomes of writes are counted under
 * their own names.
 */
export const METRICS = {
  /** An instance found a role of a group down. */
  circuitOpened: 'circuit_opened',
  /** Requests that were answered 503 as a whole, since the index that was asked for is being built. */
  answeredIndexBuilding: 'answered_index_building',
  /**
   * Of each group, every half minute: rows that wait, the age of the oldest, rows set aside, those that lost against
   * another body, and those that wait for an operator's word.
   */
  bufferRows: 'buffer_rows',
  bufferOldestSeconds: 'buffer_oldest_seconds',
  bufferParked: 'buffer_parked',
  bufferConflicts: 'buffer_conflicts',
  bufferUndecided: 'buffer_undecided',
  /**
   * Of each datastore with indexes, every few seconds: cells behind which the repair is, and entries that it had to
   * write.
   */
  indexLagCells: 'index_lag_cells',
  indexRepaired: 'index_repaired',
  /** Cells sent to queues, sent again from what was parked, and calls of SQS that failed. */
  triggerSent: 'trigger_sent',
  triggerRetried: 'trigger_retried',
  triggerSendFailed: 'trigger_send_failed',
  /** Of each trigger, every half minute: how far consuming is behind the logs, and how far sending is. */
  triggerLagCells: 'trigger_lag_cells',
  triggerLagSeconds: 'trigger_lag_seconds',
  triggerUnsentCells: 'trigger_unsent_cells',
  triggerUnsentSeconds: 'trigger_unsent_seconds',
  /** What became of them at their functions. */
  triggerConsumed: 'trigger_consumed',
  triggerFailed: 'trigger_failed',
  triggerParked: 'trigger_parked',
  triggerRetryFailed: 'trigger_retry_failed',
  triggerMalformed: 'trigger_malformed',
  triggerStopped: 'trigger_stopped',
  /** Of each trigger, every half minute: 1 while it is stopped by itself, cells parked, messages that cannot be read. */
  triggerStoppedNow: 'trigger_stopped_now',
  triggerParkedNow: 'trigger_parked_now',
  triggerMalformedNow: 'trigger_malformed_now',
  /**
   * Of each export by schedule, told apart by the dimension `EXPORT_DIMENSION`, at the end of each run: how old what is
   * not in it may be, the cells that were written, and those that were left for the next run.
   */
  exportBehindSeconds: 'export_behind_seconds',
  exportCells: 'export_cells',
  exportLeftCells: 'export_left_cells',
  /** Moves of shards under way, every half minute while there are any; and what they stumbled over. */
  moves: 'moves',
  moveErrors: 'move_errors',
  /** Erasures that are not done, and the age of the oldest, every half minute while there are any. */
  erasuresOpen: 'erasures_open',
  erasuresOldestSeconds: 'erasures_oldest_seconds',
  /**
   * Of each datastore with rules of retention, after each round: bodies that were erased, and by how much the look for
   * more is overdue.
   */
  retentionErased: 'retention_erased',
  retentionBehindSeconds: 'retention_behind_seconds',
  /** Holes in logs that did not close, and logs that lost cells. */
  logHole: 'log_hole',
  logCut: 'log_cut',
} as const;

/** The dimension that tells exports apart: where they go, `s3://bucket/prefix`. */
export const EXPORT_DIMENSION = 'export';

/** Of all metrics; the dimension `service` is the name of the environment. */
export const METRIC_NAMESPACE = 'Schemaless';
