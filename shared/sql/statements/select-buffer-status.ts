import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export interface BufferStatus {
  readonly rows: number;
  /** Seconds, by the group's own clock, and as right as that is; never below 0. */
  readonly oldest_age: number | null;
  readonly parked: number;
  readonly conflicts: number;
  readonly undecided: number;
}

/** What waits in a group's buffer table, for one datastore's primaries or for all: by keys alone, but for one time. */
export function selectBufferStatus(datastore?: string): Statement {
  const ofDatastore = datastore === undefined ? '' : 'datastore = ?';
  const count = (state: string): string => `COALESCE(SUM(state = '${state}'), 0)`;
  return {
    sql:
      `SELECT ${count('waiting')}, (SELECT GREATEST(0, TIMESTAMPDIFF(MICROSECOND, oldest.created_at, SYSDATE(6)) DIV 1000) FROM ${CONTROL}.buffer AS oldest ` +
      `WHERE oldest.id = (SELECT MIN(id) FROM ${CONTROL}.buffer WHERE state = 'waiting'${ofDatastore && ` AND ${ofDatastore}`})), ` +
      `${count('parked')}, ${count('conflict')}, ${count('undecided')} FROM ${CONTROL}.buffer${ofDatastore && ` WHERE ${ofDatastore}`}`,
    parameters: datastore === undefined ? [] : [datastore, datastore],
  };
}

export function toBufferStatus(rows: readonly SqlRow[]): BufferStatus {
  const [waiting, age, parked, conflicts, undecided] = rows[0] ?? [];
  return {
    rows: toNumber(waiting),
    oldest_age: age === null || age === undefined ? null : toNumber(age) / 1000,
    parked: toNumber(parked),
    conflicts: toNumber(conflicts),
    undecided: toNumber(undecided),
  };
}
