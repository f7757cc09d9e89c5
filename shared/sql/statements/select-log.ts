import { cellColumns, headRow } from '../cell-rows.ts';
import type { Statement } from '../client.ts';
import { hiddenInAny, type ReadableDatastore } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

interface LogRange {
  readonly shard: number;
  readonly after: number;
  /** Selects the first cell only if it fits. @default false: of any size */
  readonly onlyFitting?: boolean;
}

/** Selects the next cells, and the heads, of many logs in one snapshot. Readers stop at holes. */
export function selectLog(
  { datastore, retention }: ReadableDatastore,
  ranges: readonly LogRange[],
  limit: number,
  bytes: number,
): Statement {
  const parts = ranges.map(({ shard, after, onlyFitting = false }, item): Statement => {
    const entity = entityTable(datastore, shard);
    const hidden = hiddenInAny(retention, entity, false);
    const sql =
      `(SELECT ${cellColumns(item, shard, undefined, hidden)} FROM ` +
      `(SELECT added_id AS sized_id, SUM(bytes) OVER (ORDER BY added_id) - ${onlyFitting ? 0 : 'bytes'} AS taken FROM ` +
      `(SELECT added_id, COALESCE(LENGTH(body), 0) AS bytes FROM ${entity} FORCE INDEX (PRIMARY) WHERE added_id > ? ORDER BY added_id LIMIT ?) AS page) AS sized ` +
      `STRAIGHT_JOIN ${entity} FORCE INDEX (PRIMARY) ON added_id = sized_id WHERE taken < ? ORDER BY added_id) ` +
      `UNION ALL ${headRow(item, shard, entity)}`;
    return { sql, parameters: [...(hidden?.parameters ?? []), after, limit, bytes], table: entity };
  });
  return unionOf(parts);
}
