import { rowKeyBytes, CELL_MARK, erasureAddress, RANGE_MARK } from '../../address.ts';
import { LIMITS, type CellAddress } from '../../cell.ts';
import { cellColumns } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';

/** An append checks, under the shard's lock, that no erasure covers its cells; without erasures, only for that. */

export const NOTHING_ERASED = 'has_erasures = 0';

interface ShardAt {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
}

interface ErasureCheck {
  readonly joins: string;
  readonly condition: string;
}

/**
 * Returns the parts of an append that check for erasures of the row, the column up to a version, and the cell, given as
 * expressions: some 8 % of an append. Without checks it requires a shard without erasures.
 */
export function erasureCheck(
  entity: string,
  checks: boolean,
  [rowKey, columnName, refKey]: readonly [string, string, string],
): ErasureCheck {
  if (!checks) return { joins: '', condition: ` AND log.${NOTHING_ERASED}` };
  return {
    joins:
      `LEFT JOIN ${entity} AS gone ON gone.row_key = ${rowKey} AND gone.column_name = ${RANGE_MARK} AND gone.ref_key = ${LIMITS.refKey} ` +
      `LEFT JOIN ${entity} AS past FORCE INDEX (cell) ON past.row_key = ${rowKey} AND past.column_name = CONCAT(${RANGE_MARK}, ${columnName}) AND past.ref_key >= ${refKey} ` +
      `LEFT JOIN ${entity} AS lone ON lone.row_key = ${rowKey} AND lone.column_name = CONCAT(${CELL_MARK}, ${columnName}) AND lone.ref_key = ${refKey} `,
    condition: ' AND gone.added_id IS NULL AND past.added_id IS NULL AND lone.added_id IS NULL',
  };
}

export function boundByCheck(rowKey: Uint8Array, columnName: Uint8Array, refKey: number): readonly SqlParameter[] {
  return [rowKey, rowKey, columnName, refKey, rowKey, columnName, refKey];
}

/** Makes appends to a shard check from now on: sent before its first erasure is appended. */
export function requireChecks({ datastore, shard, epoch }: ShardAt): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET has_erasures = 1 WHERE datastore = ? AND shard = ? AND epoch = ?`,
    parameters: [datastore, shard, epoch],
  };
}

/** Selects whether appends to a shard must check, as a branch of a union over cells, in place of a head. */
export function selectChecks(datastore: string, shard: number, item: number): Statement {
  return {
    sql: `(SELECT ${item}, ${shard}, has_erasures, NULL, NULL, NULL, NULL, NULL FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`,
    parameters: [datastore, shard],
  };
}

/** Selects the erasures that cover an address, of row, versions and cell: a look-up in the key each. */
export function selectErasures(datastore: string, shard: number, address: CellAddress, item: number): Statement[] {
  const entity = entityTable(datastore, shard);
  const { row_key, column_name, ref_key } = address;
  const exactly = [erasureAddress({ row_key }), erasureAddress(address)];
  const parts = exactly.map((erasure): Statement => ({
    table: entity,
    sql: `(SELECT ${cellColumns(item, shard)} FROM ${entity} WHERE row_key = ? AND column_name = ? AND ref_key = ?)`,
    parameters: [rowKeyBytes(row_key), Buffer.from(erasure.column_name), erasure.ref_key],
  }));
  const upTo = erasureAddress({ row_key, column_name, up_to: LIMITS.refKey });
  return [
    ...parts,
    {
      table: entity,
      sql: `(SELECT ${cellColumns(item, shard)} FROM ${entity} FORCE INDEX (cell) WHERE row_key = ? AND column_name = ? AND ref_key >= ? ORDER BY ref_key LIMIT 1)`,
      parameters: [rowKeyBytes(row_key), Buffer.from(upTo.column_name), ref_key],
    },
  ];
}
