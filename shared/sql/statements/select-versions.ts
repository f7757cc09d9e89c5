import { rowKeyBytes } from '../../address.ts';
import { cellColumns, headRow } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { keptInColumn, type ReadableDatastore } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';

interface VersionsRange {
  readonly row_key: string;
  readonly column_name: string;
  readonly after: number | undefined;
  readonly ascending: boolean;
  readonly limit: number;
  /** Encoded bytes at which the list ends, once it has a cell. */
  readonly bytes: number;
}

/** Selects the cells of one column by ref key; sizes are summed before bodies are fetched. */
export function selectVersions(
  { datastore, retention }: ReadableDatastore,
  shard: number,
  range: VersionsRange,
  heads: boolean,
): Statement {
  const entity = entityTable(datastore, shard);
  const rowKey = rowKeyBytes(range.row_key);
  const kept = keptInColumn(retention, { entity, rowKey, column: range.column_name });
  const direction = range.ascending ? 'ASC' : 'DESC';
  const beyond = range.after === undefined ? '' : `AND ref_key ${range.ascending ? '>' : '<'} ?`;
  const parameters: SqlParameter[] = [rowKey, Buffer.from(range.column_name), ...kept.parameters];
  if (range.after !== undefined) parameters.push(range.after);
  parameters.push(range.limit, range.bytes);
  const sql =
    `(SELECT ${cellColumns(0, shard)} FROM ` +
    `(SELECT added_id AS sized_id, SUM(bytes) OVER (ORDER BY ref_key ${direction}) - bytes AS before_it FROM ` +
    `(SELECT added_id, ref_key, COALESCE(LENGTH(body), 0) AS bytes FROM ${entity} FORCE INDEX (cell) ` +
    `WHERE row_key = ? AND column_name = ?${kept.sql} ${beyond} ORDER BY ref_key ${direction} LIMIT ?) AS page) AS sized ` +
    `STRAIGHT_JOIN ${entity} FORCE INDEX (PRIMARY) ON added_id = sized_id WHERE before_it < ? ORDER BY ref_key ${direction})`;
  return { sql: heads ? `${sql} UNION ALL ${headRow(0, shard, entity)}` : sql, parameters, table: entity };
}
