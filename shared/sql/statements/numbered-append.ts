import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import type { AppendedLog, NumberedCells, SqlParameter } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { IS_NUMBERED } from './number-cells.ts';

/**
 * The row is as it was numbered; and it was: another transaction may have opened the shard since the numbering passed it
 * by, or said where its log ends. What has no number of its own would go to the place of the last cell, and be refused,
 * but in an empty log.
 */
const HAS_NUMBERS = `head >= first_id AND ${IS_NUMBERED}`;

/**
 * An append as a part of a transaction, where the shard's row itself says where the log ends: `head`, and `head_at`, the
 * time of its last cell, as long as `head_epoch` is the shard's epoch. `numberCells` moves them on, with one UPDATE for
 * all shards of the transaction, and what is inserted behind it reads nothing of the table that it fills: half the work
 * of `appendCell`, which looks for the end of the log and for the cell, by way of a temporary table.
 *
 * **All or nothing.** A cell that exists, or an end that was passed by an append which did not number, is refused as a
 * duplicate, and with the transaction the numbers are taken back. Nothing is numbered, and nothing inserted, where the
 * shard is not as the fence says, or its end is not known. So `head` is the last added id or a lower one, never a higher
 * one: no log gets a hole.
 *
 * Whoever is refused, or finds nothing inserted, appends without it, and has `renumber` find the end.
 *
 * @param cells of the shard, no address twice
 */
export function numberedAppend(
  { datastore, shard, epoch }: AppendedLog,
  cells: readonly (CellAddress & { readonly encoded: Uint8Array })[],
): NumberedCells {
  const entity = entityTable(datastore, shard);
  const parameters: SqlParameter[] = [];
  for (const { row_key, column_name, ref_key, encoded } of cells)
    parameters.push(rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded);
  parameters.push(datastore, shard, epoch);
  return {
    count: cells.length,
    insert: { sql: cells.length === 1 ? textOfOne(entity) : textOfSeveral(entity, cells.length), parameters },
  };
}

/** By table: the same for each cell of a shard. */
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
