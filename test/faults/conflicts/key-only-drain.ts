/** A drain that takes any body at a row's address for the row's own: a control. */
import type { SqlValue } from '../../../shared/sql/client.ts';
import type { Wrap } from '../../support/store-access.ts';

/** Whatever a node has at the address of a waiting row is said to be the row's own body. */
export const wrap: Wrap = (client, varied) => {
  const waiting = new Map<string, SqlValue>();
  const hex = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('hex');
  const keyOf = (rowKey: unknown, columnName: unknown, refKey: unknown): string =>
    `${hex(rowKey)}/${hex(columnName)}/${String(refKey)}`;
  return {
    ...client,
    async select(statement, target) {
      const { sql, parameters } = statement;
      const rows = await client.select(statement, target);
      if (sql.includes("WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ?"))
        for (const row of rows) waiting.set(keyOf(row[3], row[4], row[5]), row[6] ?? null);
      const asked = sql.includes('UNHEX(SHA2(cell.body, 256))') ? sql.matchAll(/SELECT (\d+)(?: AS item)?, \?/g) : [];
      const items = [...asked].map(([, item]) => item);
      if (items.length === 0) return rows;
      varied();
      const keys = new Map(
        items.map((item, position) => [
          item,
          keyOf(...(parameters.slice(3 * position, 3 * position + 3) as [unknown, unknown, unknown])),
        ]),
      );
      return rows.map((row) => [row[0] ?? null, waiting.get(keys.get(String(row[0])) ?? '') ?? row[1] ?? null]);
    },
    // Rows are changed by address and hash: by address alone then.
    change: (statement) => client.change({ ...statement, sql: byAddress(statement.sql) }),
  };
};

/** One row is named by its columns, several by tuples. */
function byAddress(sql: string): string {
  const singly = sql.replaceAll('body_hash = ?', '(body_hash = ? OR TRUE)');
  return singly.includes('ref_key, body_hash) IN (')
    ? singly
        .replace('ref_key, body_hash) IN (', 'ref_key, TRUE) IN (')
        .replaceAll('(?, ?, ?, ?, ?)', '(?, ?, ?, ?, ? IS NOT NULL)')
    : singly;
}
