import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** What waits in a buffer table, of all datastores. */
export interface Backlog {
  readonly rows: number;
  /** Since the oldest of them came, by the group's own clock; 0 when there are none. */
  readonly seconds: number;
}

/** By keys alone: a table full of bodies is not read through. */
export function selectBacklog(): Statement {
  return {
    sql:
      `SELECT COUNT(*), (SELECT TIMESTAMPDIFF(MICROSECOND, oldest.created_at, SYSDATE(6)) DIV 1000 ` +
      `FROM ${CONTROL}.buffer AS oldest WHERE oldest.state = 'waiting' ORDER BY oldest.id LIMIT 1) ` +
      `FROM ${CONTROL}.buffer WHERE state = 'waiting'`,
    parameters: [],
  };
}

export function toBacklog([row]: readonly SqlRow[]): Backlog {
  const age = row?.[1];
  return { rows: toNumber(row?.[0]), seconds: age === null || age === undefined ? 0 : toNumber(age) / 1000 };
}
