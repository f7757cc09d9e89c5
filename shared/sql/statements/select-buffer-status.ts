import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export interface BufferStatus {
  /** Counts end at `MOST_ROWS`. */
  readonly rows: number;
  /** Seconds by the group's own clock, at least 0. */
  readonly oldest_age: number | null;
  readonly parked: number;
  readonly conflicts: number;
  readonly in_doubt: number;
}

/** Bounds the time of a count, so that a large table cannot silence its alarms. */
const MOST_ROWS = 1_000_000;

/** Counts what waits in a group's buffer table, for one datastore or all: by keys, but for one time. */
export function selectBufferStatus(datastore?: string): Statement {
  const rowsOf = (state: string): string =>
    `${CONTROL}.buffer FORCE INDEX (place) WHERE state = '${state}'${datastore === undefined ? '' : ' AND datastore = ?'}`;
  const count = (state: string): string =>
    `(SELECT COUNT(*) FROM (SELECT shard FROM ${rowsOf(state)} LIMIT ${MOST_ROWS}) AS some)`;
  // Grouping by the state makes both engines step from shard to shard.
  const firsts = `SELECT MIN(id) AS first FROM ${CONTROL}.buffer FORCE INDEX FOR GROUP BY (place) GROUP BY state, datastore, shard HAVING state = 'waiting'${datastore === undefined ? '' : ' AND datastore = ?'}`;
  const oldest = `SELECT MIN(first) FROM (${firsts}) AS firsts`;
  const parameters = datastore === undefined ? [] : [datastore];
  return {
    sql:
      `SELECT ${count('waiting')}, (SELECT GREATEST(0, TIMESTAMPDIFF(MICROSECOND, oldest.created_at, SYSDATE(6)) DIV 1000) FROM ${CONTROL}.buffer AS oldest WHERE oldest.id = (${oldest})), ` +
      `${count('parked')}, ${count('conflict')}, ${count('in_doubt')}`,
    parameters: [...parameters, ...parameters, ...parameters, ...parameters, ...parameters],
  };
}

export function toBufferStatus(rows: readonly SqlRow[]): BufferStatus {
  const [waiting, age, parked, conflicts, in_doubt] = rows[0] ?? [];
  return {
    rows: toNumber(waiting),
    oldest_age: age === null || age === undefined ? null : toNumber(age) / 1000,
    parked: toNumber(parked),
    conflicts: toNumber(conflicts),
    in_doubt: toNumber(in_doubt),
  };
}
