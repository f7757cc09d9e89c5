import { cellColumns } from '../cell-rows.ts';
import type { Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export interface LogRange {
  readonly shard: number;
  /** The last added id read before. */
  readonly after: number;
}

/**
 * The next cells of many shards' logs in one statement, at most `limit` and about `bytes` of each (one at least). The
 * reader must still stop at a hole.
 */
export function selectLog(datastore: string, ranges: readonly LogRange[], limit: number, bytes: number): Statement {
  const parts = ranges.map(({ shard, after }, item): Statement => {
    const entity = entityTable(datastore, shard);
    const sql =
      `(SELECT ${cellColumns(item, shard)} FROM ` +
      `(SELECT added_id, SUM(bytes) OVER (ORDER BY added_id) - bytes AS before_it FROM ` +
      `(SELECT added_id, COALESCE(LENGTH(body), 0) AS bytes FROM ${entity} WHERE added_id > ? ORDER BY added_id LIMIT ?) AS page) AS sized ` +
      `JOIN ${entity} AS entity ON entity.added_id = sized.added_id WHERE sized.before_it < ? ORDER BY entity.added_id)`;
    return { sql, parameters: [after, limit, bytes] };
  });
  return unionOf(parts);
}
