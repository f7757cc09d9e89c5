import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import type { AppendedLog, SqlParameter, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { IS_NUMBERED } from './number-cells.ts';

/** Another transaction may have opened the shard since: a cell without its number would take the last one's. */
const HAS_NUMBERS = `head >= first_id AND ${IS_NUMBERED}`;

/**
 * Appends cells in a transaction after `numberCells` has moved `head` and `head_at` on in the shard's row. It reads
 * nothing of the table that it fills: half the work of `appendCell`.
 *
 * All or nothing: an existing cell, or an end passed by an unnumbered append, is a duplicate that takes the whole
 * transaction and its numbers back. Nothing is inserted if the shard is not as the fence says. So `head` is never above
 * the last added id, and no log gets a hole. A refused append goes without numbers, and `renumber` finds the end.
 *
 * The insert id is the last added id. `cells`: of the shard, no address twice.
 */
export function numberedAppend(
  { datastore, shard, epoch }: AppendedLog,
  cells: readonly (CellAddress & { readonly encoded: Uint8Array })[],
): Pick<Statement, 'sql' | 'parameters'> {
  const entity = entityTable(datastore, shard);
  const parameters: SqlParameter[] = [];
  for (const { row_key, column_name, ref_key, encoded } of cells)
    parameters.push(rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded);
  parameters.push(datastore, shard, epoch);
  return { sql: cells.length === 1 ? textOfOne(entity) : textOfSeveral(entity, cells.length), parameters };
}

const texts = new Map<string, string>();

function textOfOne(entity: string): string {
  let sql = texts.get(entity);
  if (sql === undefined) {
    sql =
      `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at) ` +
      `SELECT LAST_INSERT_ID(head), ?, ?, ?, ?, head_at FROM ${CONTROL}.shard ` +
      `WHERE datastore = ? AND shard = ? AND epoch = ? AND ${HAS_NUMBERS}`;
    texts.set(entity, sql);
  }
  return sql;
}

function textOfSeveral(entity: string, cells: number): string {
  const rows = Array.from({ length: cells - 1 }, (_, position) => `SELECT ${position + 1}, ?, ?, ?, ?`);
  return (
    `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at) ` +
    `SELECT LAST_INSERT_ID(head) - ${cells - 1} + new.position, new.row_key, new.column_name, new.ref_key, new.body, head_at ` +
    `FROM ${CONTROL}.shard ` +
    `JOIN (SELECT 0 AS position, ? AS row_key, ? AS column_name, ? AS ref_key, ? AS body UNION ALL ${rows.join(' UNION ALL ')}) AS new ` +
    `WHERE datastore = ? AND shard = ? AND epoch = ? AND ${HAS_NUMBERS}`
  );
}
