/** A drain that takes any body at a row's address for the row's own: a control. */
import type { SqlValue } from '../../../shared/sql/client.ts';
import type { Wrap } from '../../support/store-access.ts';

/** Whatever a node has at the address of a waiting row is said to be the row's own body. */
export const wrap: Wrap = (client, varied) => {
  const waiting = new Map<string, SqlValue>();
  /** Of who answers no address comes. */
  const hex = (bytes: unknown): string => Buffer.from((bytes ?? []) as Uint8Array).toString('hex');
  const keyOf = (rowKey: unknown, columnName: unknown, refKey: unknown): string =>
    `${hex(rowKey)}/${hex(columnName)}/${String(refKey)}`;
  return {
    ...client,
    async select(statement, target) {
      const { sql } = statement;
      const rows = await client.select(statement, target);
      if (sql.includes("WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ?"))
        for (const row of rows) waiting.set(keyOf(row[3], row[4], row[5]), row[6] ?? null);
      if (!sql.includes('UNHEX(SHA2(body, 256))')) return rows;
      varied();
      return rows.map(([list = null, shown = null, ...address]) => [
        list,
        waiting.get(keyOf(...(address as [unknown, unknown, unknown]))) ?? shown,
        ...address,
      ]);
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
