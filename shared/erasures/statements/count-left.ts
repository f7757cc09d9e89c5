import { rowKeyBytes, erasureAddress, type ErasureTarget } from '../../address.ts';
import { toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';
import { rangeOf } from '../../sql/statements/erasure-range.ts';
import { HAS_BODY } from '../../sql/statements/select-bodies.ts';

/**
 * Selects whether a node still shows a body of a target, and whether it shows the erasure: without it, bodies may still
 * arrive. `database`: of the shard, or of its copy.
 */
export function countLeft(database: string, target: ErasureTarget): Statement {
  const entity = `${quoteName(database)}.\`entity\``;
  const range = rangeOf(target);
  const { row_key, column_name, ref_key } = erasureAddress(target);
  return {
    table: entity,
    sql:
      `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ${entity} WHERE ${range.sql} AND ${HAS_BODY} LIMIT 1) AS found), ` +
      `(SELECT COUNT(*) FROM ${entity} WHERE row_key = ? AND column_name = ? AND ref_key = ?)`,
    parameters: [...range.parameters, rowKeyBytes(row_key), Buffer.from(column_name), ref_key],
  };
}

export function toLeft([row]: readonly SqlRow[]) {
  return { hasBodies: toNumber(row?.[0]) > 0, hasErasure: toNumber(row?.[1]) > 0 };
}
