import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export interface BufferStatus {
  readonly rows: number;
  /** Seconds, by the group's own clock. */
  readonly oldest_age: number | null;
  readonly parked: number;
  readonly conflicts: number;
}

/** What waits in a group's buffer table, for one datastore's primaries or for all. */
export function selectBufferStatus(datastore?: string): Statement {
  return {
    sql:
      `SELECT COALESCE(SUM(state = 'waiting'), 0), ` +
      `TIMESTAMPDIFF(MICROSECOND, MIN(IF(state = 'waiting', created_at, NULL)), SYSDATE(6)) DIV 1000, ` +
      `COALESCE(SUM(state = 'parked'), 0), COALESCE(SUM(state = 'conflict'), 0) ` +
      `FROM ${CONTROL}.buffer${datastore === undefined ? '' : ' WHERE datastore = ?'}`,
    parameters: datastore === undefined ? [] : [datastore],
  };
}

export function toBufferStatus(rows: readonly SqlRow[]): BufferStatus {
  const [waiting, age, parked, conflicts] = rows[0] ?? [];
  return {
    rows: toNumber(waiting),
    oldest_age: age === null || age === undefined ? null : toNumber(age) / 1000,
    parked: toNumber(parked),
    conflicts: toNumber(conflicts),
  };
}
