import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

interface LagRange {
  readonly shard: number;
  /** The last added id done; undefined: only the head is wanted. */
  readonly after: number | undefined;
}

export interface StoredLag {
  readonly head: number;
  /** Age of the first cell not done, by the group's clock; undefined if there is none. */
  readonly ageSeconds: number | undefined;
}

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
