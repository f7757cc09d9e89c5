import { rowKeyBytes } from '../../address.ts';
import { cellColumns, headRow, type BodyBound } from '../cell-rows.ts';
import type { Statement } from '../client.ts';
import { hiddenInAny, type ReadableDatastore } from '../hidden-cells.ts';
import { entityTable } from '../names.ts';

interface ColumnsOfRow {
  readonly row_key: string;
  readonly columns: readonly string[];
  /** Encoded bytes for all of them; each brings an equal share at most. */
  readonly bytes: number;
}

/** Selects the latest cells of some columns by look-ups, in no order: for two a fifth of `selectRow`. */
export function selectColumns(
  { datastore, retention }: ReadableDatastore,
  shard: number,
  { row_key, columns, bytes }: ColumnsOfRow,
  heads: boolean,
): Statement {
  const entity = entityTable(datastore, shard);
  const hidden = hiddenInAny(retention, entity, true);
  const bound: BodyBound = { bytes: Math.floor(bytes / columns.length), withBeginnings: true };
  const select = `(SELECT ${cellColumns(0, shard, bound, hidden)} FROM ${entity} FORCE INDEX (cell) WHERE row_key = ? AND column_name = ? ORDER BY ref_key DESC LIMIT 1)`;
  const key = rowKeyBytes(row_key);
  return {
    sql: [...columns.map(() => select), ...(heads ? [headRow(0, shard, entity, bound)] : [])].join(' UNION ALL '),
    parameters: columns.flatMap((column) => [...(hidden?.parameters ?? []), key, Buffer.from(column)]),
    table: entity,
  };
}
