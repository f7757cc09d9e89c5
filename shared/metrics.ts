/** Metrics that functions report and alarms watch. Outcomes of writes count under their own names. */
export const METRICS = {
  /** An instance found a role of a group down. */
  circuitOpened: 'circuit_opened',
  /** Requests answered 503 as a whole, since their index is being built. */
  answeredIndexBuilding: 'answered_index_building',
  /** Each group, every half minute: rows waiting, the oldest's age, parked, conflicting, and in doubt. */
  bufferRows: 'buffer_rows',
  bufferOldestSeconds: 'buffer_oldest_seconds',
  bufferParked: 'buffer_parked',
  bufferConflicts: 'buffer_conflicts',
  bufferInDoubt: 'buffer_in_doubt',
  /** Each datastore with indexes: cells that the repair is behind, and entries that it wrote. */
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
  /** Their outcomes in their functions. */
  triggerConsumed: 'trigger_consumed',
  triggerFailed: 'trigger_failed',
  triggerParked: 'trigger_parked',
  triggerRetryFailed: 'trigger_retry_failed',
  triggerMalformed: 'trigger_malformed',
  triggerStopped: 'trigger_stopped',
  /** Of each trigger, every half minute: 1 while it has stopped itself, parked cells, unreadable messages. */
  triggerStoppedNow: 'trigger_stopped_now',
  triggerParkedNow: 'trigger_parked_now',
  triggerMalformedNow: 'trigger_malformed_now',
  /** Each scheduled export, after a run: the age of what is missing, cells written, cells left over. */
  exportBehindSeconds: 'export_behind_seconds',
  exportCells: 'export_cells',
  exportLeftCells: 'export_left_cells',
  /** Moves of shards under way, every half minute while there are any; and their errors. */
  moves: 'moves',
  moveErrors: 'move_errors',
  /** Erasures that are not done, and the age of the oldest, every half minute while there are any. */
  erasuresOpen: 'erasures_open',
  erasuresOldestSeconds: 'erasures_oldest_seconds',
  /** Each datastore with retention, after a round: erased bodies, and how overdue the next poll is. */
  retentionErased: 'retention_erased',
  retentionBehindSeconds: 'retention_behind_seconds',
  /** Holes in logs that did not close, and logs that lost cells. */
  logHole: 'log_hole',
  logCut: 'log_cut',
} as const;

/** The dimension that identifies an export: its destination, `s3://bucket/prefix`. */
export const EXPORT_DIMENSION = 'export';

/** Of all metrics; the dimension `service` is the name of the environment. */
export const METRIC_NAMESPACE = 'Schemaless';
