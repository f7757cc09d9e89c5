import { rowKeyBytes, CELL_MARK, erasureAddress, RANGE_MARK } from '../../address.ts';
import { LIMITS, type CellAddress } from '../../cell.ts';
import { cellColumns } from '../cell-rows.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';

/*
 * What appends need to know of erasures. An erased address accepts no writes: an append checks in its own statement, under
 * the shard's lock, that no erasure covers its cells. An append to a shard without erasures does not check, and pays
 * nothing: it requires that the shard's row says so.
 */

/** The condition over the shard's row that nothing of the shard was erased. */
export const NOTHING_ERASED = 'has_erasures = 0';

/** A shard at an epoch. */
interface ShardAt {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
}

/** The parts of an append that check for erasures. */
interface ErasureCheck {
  readonly joins: string;
  readonly condition: string;
}

/**
 * Makes the parts of an append that check for erasures: of the row, of the column up to a version that is not before the
 * cell, and of the cell.
 *
 * @param checks false: the append requires a shard without erasures. True takes an append some 8 % more time
 * @param address expressions of the cell's row key, column name and ref key
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

/** What `erasureCheck` binds for an address of `?`. */
export function boundByCheck(rowKey: Uint8Array, columnName: Uint8Array, refKey: number): readonly SqlParameter[] {
  return [rowKey, rowKey, columnName, refKey, rowKey, columnName, refKey];
}

/** Has appends to a shard check from here on: sent before its first erasure is appended. */
export function requireChecks({ datastore, shard, epoch }: ShardAt): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET has_erasures = 1 WHERE datastore = ? AND shard = ? AND epoch = ?`,
    parameters: [datastore, shard, epoch],
  };
}

/**
 * Selects whether appends to a shard have to check, as a branch of a union over cells: in the place of a head.
 *
 * @param item by which its row is told from those of other branches
 */
export function selectChecks(datastore: string, shard: number, item: number): Statement {
  return {
    sql: `(SELECT ${item}, ${shard}, has_erasures, NULL, NULL, NULL, NULL, NULL FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`,
    parameters: [datastore, shard],
  };
}

/**
 * Selects the erasures that cover an address, each a cell: of the row, of the column, of its versions up to one, of the
 * cell itself. One look-up in the unique key each; of versions the erasure that goes least far.
 *
 * @param item by which the rows are told from those of other branches of a union
 */
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
