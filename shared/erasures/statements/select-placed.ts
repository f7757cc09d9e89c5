import { rowKeyBytes, erasureAddress, type ErasureTarget } from '../../address.ts';
import { toNumber } from '../../sql/cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../../sql/client.ts';
import { CONTROL, quoteName } from '../../sql/names.ts';
import { unionOf } from '../../sql/union.ts';

/** Selects the positions of the targets whose erasures are in a log. */
export function selectPlaced(database: string, targets: readonly ErasureTarget[]): Statement {
  return placedIn(`${quoteName(database)}.\`entity\``, 'cell', { sql: '', parameters: [] }, targets);
}

/** Selects the positions of those in a group's buffer. */
export function selectPlacedInBuffer(datastore: string, targets: readonly ErasureTarget[]): Statement {
  return placedIn(`${CONTROL}.buffer`, 'copy', { sql: 'datastore = ? AND ', parameters: [datastore] }, targets);
}

function placedIn(
  table: string,
  key: string,
  of: { readonly sql: string; readonly parameters: readonly SqlParameter[] },
  targets: readonly ErasureTarget[],
): Statement {
  return unionOf(
    targets.map((target, position): Statement => {
      const { row_key, column_name, ref_key } = erasureAddress(target);
      return {
        table,
        sql: `SELECT ${position} FROM ${table} FORCE INDEX (${key}) WHERE ${of.sql}row_key = ? AND column_name = ? AND ref_key = ?`,
        parameters: [...of.parameters, rowKeyBytes(row_key), Buffer.from(column_name), ref_key],
      };
    }),
  );
}

/** Returns the positions of targets. */
export function toPlaced(rows: readonly SqlRow[]): readonly number[] {
  return rows.map(([position]) => toNumber(position));
}
