import { toSqlTime } from '../../time.ts';
import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

interface TimeLocation {
  readonly shard: number;
  readonly since: string;
}

/** Selects the last added id before `since` in each log: a binary search, since times never go back. */
export function findLocations(datastore: string, locations: readonly TimeLocation[]): Statement {
  const parts = locations.map(({ shard, since }, item): Statement => {
    const entity = entityTable(datastore, shard);
    const sql =
      `SELECT ${item} AS item, (WITH RECURSIVE search (low, high, since) AS (` +
      `SELECT 0, (SELECT COALESCE(MAX(added_id), 0) FROM ${entity}), CAST(? AS DATETIME(6)) ` +
      `UNION ALL SELECT ` +
      `IF(COALESCE(cell.created_at < since, FALSE), (low + high + 1) DIV 2, low), ` +
      `IF(COALESCE(cell.created_at < since, FALSE), high, (low + high + 1) DIV 2 - 1), since ` +
      `FROM search LEFT JOIN ${entity} AS cell ON cell.added_id = (low + high + 1) DIV 2 WHERE low < high) ` +
      `SELECT MAX(low) FROM search WHERE low = high) AS after_id`;
    return { sql, parameters: [toSqlTime(since)], table: entity };
  });
  return unionOf(parts);
}

export function toAfterIds(rows: readonly SqlRow[]): number[] {
  const afters: number[] = [];
  for (const row of rows) afters[toNumber(row[0])] = toNumber(row[1]);
  return afters;
}
