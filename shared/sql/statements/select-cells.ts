import { rowKeyBytes } from '../../address.ts';
import type { CellKey } from '../../cell.ts';
import { cellColumns, headRow, type BodyBound } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { hiddenInColumn, type RetentionRules } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

/** One item of a read: a cell by its address, or the latest cell of its column, in the shard that its row is in. */
export interface ShardKey {
  readonly key: CellKey;
  readonly shard: number;
}

/**
 * Cells of many shards of one group in one statement: a branch per key, each one look-up in the unique key `cell`.
 * Branches rather than `IN` over tuples: the latest cell of a column has none, and of a batch one or two keys are of a
 * shard as a rule, for which branches take no longer.
 *
 * @param heads also ask how far the shard's log goes, for the keys that carry `min_added_id`
 * @param bound what comes of long bodies @default all come
 * @param rules by which cells are hidden
 */
export function selectCells(
  datastore: string,
  keys: readonly ShardKey[],
  heads: boolean,
  bound?: BodyBound,
  rules?: RetentionRules,
): Statement {
  const parts = keys.map(({ key, shard }, item): Statement => {
    const entity = entityTable(datastore, shard);
    const rowKey = rowKeyBytes(key.row_key);
    const { column_name: column } = key;
    const hidden = hiddenInColumn(rules, { entity, rowKey, column, onlyLatest: key.ref_key === undefined });
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
