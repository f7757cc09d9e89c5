import { rowKeyBytes, erasureAddress } from '../../address.ts';
import { LIMITS, type CellAddress } from '../../cell.ts';
import { cellColumns } from '../cell-rows.ts';
import type { Statement } from '../client.ts';
import { entityTable } from '../names.ts';

/**
 * The erasures by which an address was erased, each a cell: of the row, of the column, of its versions up to one, of the
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
