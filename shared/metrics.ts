/** Metrics that functions give and alarms look at, under one name on both sides. Outcomes of writes are counted under their own names. */
export const METRICS = {
  /** An instance found a role of a group down. */
  circuitOpened: 'circuit_opened',
  /** Of each group, every half minute: rows that wait, the age of the oldest, rows set aside, and those that lost against another body. */
  bufferRows: 'buffer_rows',
  bufferOldestSeconds: 'buffer_oldest_seconds',
  bufferParked: 'buffer_parked',
  bufferConflicts: 'buffer_conflicts',
} as const;

export const METRIC_NAMESPACE = 'Schemaless';
export const METRIC_SERVICE = 'schemaless';
