import { rowKeyOf } from '../../../shared/address.ts';
import type { SqlChange, SqlClient, Statement } from '../../../shared/sql/client.ts';
import { appendCell } from '../../../shared/sql/statements/append-cells.ts';
import { selectCells } from '../../../shared/sql/statements/select-cells.ts';
import { changing, NOTHING } from '../changed-clients.ts';

export const IS_WHOLE = ' AND log.has_erasures = 0';
const WRITER_FENCE = ' AND (log.writer_id IS NULL OR log.writer_id = @@server_id)';
const CONDITION = / AND COALESCE\(\(SELECT latest\.ref_key FROM (?:(?!FOR UPDATE).)*FOR UPDATE\), -1\) = \?/g;

/** Returns the cells of an unnumbered append of a transaction, and what follows them among its parameters. */
function partsOf({ sql, parameters }: Statement) {
  if (!sql.includes('ROW_NUMBER()') || !sql.includes(IS_WHOLE) || sql.includes('old.added_id')) return undefined;
  const count = sql.split(' UNION ALL ').length;
  const cells = Array.from({ length: count }, (_, position) => {
    const [rowKey, column, ref_key, encoded] = parameters.slice(4 * position) as [
      Uint8Array,
      Uint8Array,
      number,
      Uint8Array,
    ];
    return { row_key: rowKeyOf(rowKey), column_name: Buffer.from(column).toString(), ref_key, encoded, body: null };
  });
  const [datastore, shard, epoch, ...bound] = parameters.slice(4 * count) as [string, number, number, ...unknown[]];
  return { cells, fence: { datastore, shard, epoch, anyWriter: !sql.includes(WRITER_FENCE) }, bound };
}

/** Appends the cells of a transaction one by one. */
export function splitting(ofRecovery: boolean): (client: SqlClient) => SqlClient {
  return (client) => ({
    ...client,
    transactions: undefined as never,
    async change(statement) {
      const parts = partsOf(statement);
      if (!parts || parts.fence.anyWriter !== ofRecovery) return client.change(statement);
      let change: SqlChange = NOTHING;
      for (const cell of parts.cells) {
        const { affectedRows, insertId } = await client.change(appendCell(parts.fence, cell));
        change = { affectedRows: change.affectedRows + affectedRows, insertId: Math.max(change.insertId, insertId) };
      }
      return change;
    },
  });
}

/** Evaluates conditions by a read before the append, which has none. */
export function readingBefore(target: 'writer' | 'reader'): (client: SqlClient) => SqlClient {
  return changing(async (statement, client) => {
    const parts = partsOf(statement);
    if (!parts || parts.bound.length === 0) return client.change(statement);
    const { fence, bound } = parts;
    for (let at = 0; at < bound.length; at += 3) {
      const [rowKey, column, wanted] = bound.slice(at) as [Uint8Array, Uint8Array, number];
      const key = { row_key: rowKeyOf(rowKey), column_name: Buffer.from(column).toString() };
      const [latest] = await client.select(selectCells(fence, [{ key, shard: fence.shard }], false), target);
      if (Number(latest?.[5] ?? -1) !== wanted) return NOTHING;
    }
    const parameters = statement.parameters.slice(0, statement.parameters.length - bound.length);
    return client.change({ ...statement, sql: statement.sql.replaceAll(CONDITION, ''), parameters });
  });
}
