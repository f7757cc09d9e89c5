import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

interface LagRange {
  readonly shard: number;
  /** The added id done last; undefined: only the head is asked for. */
  readonly after: number | undefined;
}

export interface StoredLag {
  /** The last added id, 0 when the log is empty. */
  readonly head: number;
  /** Of the first cell after the range's added id, by the group's own clock; undefined where there is none. */
  readonly ageSeconds: number | undefined;
}

/** How far the logs of many shards of one group go, and how long the first cell that is not done waits in each. */
export function selectLags(datastore: string, ranges: readonly LagRange[]): Statement {
  const parts = ranges.map(({ shard, after }): Statement => {
    const entity = entityTable(datastore, shard);
    const age =
      after === undefined
        ? 'NULL'
        : `(SELECT TIMESTAMPDIFF(MICROSECOND, created_at, SYSDATE(6)) DIV 1000 FROM ${entity} FORCE INDEX (PRIMARY) WHERE added_id > ? ORDER BY added_id LIMIT 1)`;
    return {
      sql: `SELECT ${shard} AS shard, (SELECT COALESCE(MAX(added_id), 0) FROM ${entity}) AS head, ${age} AS age`,
      parameters: after === undefined ? [] : [after],
      table: entity,
    };
  });
  return unionOf(parts);
}

export function toLags(rows: readonly SqlRow[]): Map<number, StoredLag> {
  return new Map(
    rows.map(([shard, head, age]) => [
      toNumber(shard),
      { head: toNumber(head), ageSeconds: age === null ? undefined : Math.max(0, toNumber(age) / 1000) },
    ]),
  );
}
