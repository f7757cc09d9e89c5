import { rowKeyBytes, FIRST_NAME } from '../../address.ts';
import { cellColumns, headRow } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { hiddenInAny, type ReadableDatastore } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';

export interface RowRange {
  readonly row_key: string;
  readonly columns: readonly string[] | undefined;
  readonly after: string | undefined;
  readonly limit: number;
  /** Encoded bytes at which the list ends, once it has a cell. */
  readonly bytes: number;
}

export function selectRow(
  { datastore, retention }: ReadableDatastore,
  shard: number,
  range: RowRange,
  heads: boolean,
  item = 0,
): Statement {
  const entity = entityTable(datastore, shard);
  const hidden = hiddenInAny(retention, entity, true);
  const parameters: SqlParameter[] = [...(hidden?.parameters ?? []), rowKeyBytes(range.row_key)];
  // The row's own erasures have names before all others.
  let which = range.columns === undefined && range.after === undefined ? ` AND column_name >= ${FIRST_NAME}` : '';
  if (range.columns !== undefined) {
    which += ` AND column_name IN (${range.columns.map(() => '?').join(', ')})`;
    parameters.push(...range.columns.map((column) => Buffer.from(column)));
  }
  if (range.after !== undefined) {
    which += ' AND column_name > ?';
    parameters.push(Buffer.from(range.after));
  }
  parameters.push(range.limit, range.bytes);
  const sql =
    `(SELECT ${cellColumns(item, shard, undefined, hidden)} FROM ` +
    `(SELECT cell.added_id, SUM(COALESCE(LENGTH(cell.body), 0)) OVER (ORDER BY cell.column_name) - COALESCE(LENGTH(cell.body), 0) AS before_it FROM ` +
    `(SELECT row_key, column_name, MAX(ref_key) AS ref_key FROM ${entity} WHERE row_key = ?${which} ` +
    `GROUP BY row_key, column_name ORDER BY column_name LIMIT ?) AS latest ` +
    `JOIN ${entity} AS cell ON cell.row_key = latest.row_key AND cell.column_name = latest.column_name AND cell.ref_key = latest.ref_key) AS sized ` +
    `JOIN ${entity} USING (added_id) WHERE before_it < ? ORDER BY column_name)`;
  return { sql: heads ? `${sql} UNION ALL ${headRow(item, shard, entity)}` : sql, parameters, table: entity };
}
