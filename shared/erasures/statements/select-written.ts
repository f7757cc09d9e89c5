import { rowKeyOf } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { untilHole } from '../../follow/read-log-entries.ts';
import { toBytes, toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { keptSince } from '../../sql/hidden-cells.ts';
import { entityTable } from '../../sql/names.ts';
import { HAS_BODY } from '../../sql/statements/select-bodies.ts';

/** A cell of the log, without its body. */
export interface WrittenCell extends CellAddress {
  readonly added_id: number;
  readonly hasBody: boolean;
}

/** Selects a log's next cells without bodies, up to the first younger than `keepForMs`, as times never decrease. */
export function selectWritten(
  datastore: string,
  shard: number,
  after: number,
  limit: number,
  keepForMs?: number,
): Statement {
  const entity = entityTable(datastore, shard);
  const aged = keepForMs === undefined ? '' : ` WHERE created_at < ${keptSince(keepForMs)}`;
  return {
    table: entity,
    sql:
      `SELECT added_id, row_key, column_name, ref_key, has_body FROM ` +
      `(SELECT added_id, row_key, column_name, ref_key, created_at, ${HAS_BODY} AS has_body ` +
      `FROM ${entity} FORCE INDEX (PRIMARY) WHERE added_id > ? ORDER BY added_id LIMIT ?) AS page${aged} ORDER BY added_id`,
    parameters: [after, limit],
  };
}

/** Returns the cells up to the first hole, which is a commit that is not visible yet. */
export function toWritten(rows: readonly SqlRow[], after: number): readonly WrittenCell[] {
  const cells = rows.map(([added_id, row_key, column_name, ref_key, hasBody]) => ({
    added_id: toNumber(added_id),
    row_key: rowKeyOf(toBytes(row_key)),
    column_name: toText(column_name),
    ref_key: toNumber(ref_key),
    hasBody: toNumber(hasBody) === 1,
  }));
  return untilHole(cells, after);
}
