import { rowKeyBytes } from '../../address.ts';
import type { CellKey } from '../../cell.ts';
import { cellColumns, headRow, type BodyBound } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { hiddenInColumn, type ReadableDatastore } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export interface ShardKey {
  readonly key: CellKey;
  readonly shard: number;
}

/** Selects cells of a group's shards by unique key; `heads` adds each log's head, for `min_added_id`. */
export function selectCells(
  { datastore, retention }: ReadableDatastore,
  keys: readonly ShardKey[],
  heads: boolean,
  bound?: BodyBound,
): Statement {
  const parts = keys.map(({ key, shard }, item): Statement => {
    const entity = entityTable(datastore, shard);
    const rowKey = rowKeyBytes(key.row_key);
    const { column_name: column } = key;
    const hidden = hiddenInColumn(retention, { entity, rowKey, column, onlyLatest: key.ref_key === undefined });
    const parameters: SqlParameter[] = [...(hidden?.parameters ?? []), rowKey, Buffer.from(column)];
    let which = 'ORDER BY ref_key DESC LIMIT 1';
    if (key.ref_key !== undefined) {
      parameters.push(key.ref_key);
      which = 'AND ref_key = ?';
    }
    const cell = `(SELECT ${cellColumns(item, shard, bound, hidden)} FROM ${entity} FORCE INDEX (cell) WHERE row_key = ? AND column_name = ? ${which})`;
    return {
      sql: heads && key.min_added_id !== undefined ? `${cell} UNION ALL ${headRow(item, shard, entity, bound)}` : cell,
      parameters,
      table: entity,
    };
  });
  return unionOf(parts);
}
