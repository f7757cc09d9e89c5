import { rowKeyBytes, shardOf } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlParameter } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import { sumOf } from '../fault-run.ts';
import { FORGOTTEN, INDEX, SHARDS } from './marked-cells.ts';

/**
 * Does, past the store, what no erasure may do to other rows: gives one cell another body, takes another one out of its
 * log, and the entry of a third row out of its index.
 */
export async function spoil(groups: readonly GroupAccess[], kept: readonly NewCell[]): Promise<void> {
  const [changed] = kept;
  if (!changed) throw new Error('wanted cells that are kept');
  const away = kept.find(({ row_key }) => shardOf(row_key, SHARDS) !== shardOf(changed.row_key, SHARDS));
  if (!away) throw new Error('wanted kept cells of two shards');
  await changeWhereItIs(groups, changed, (table) => `UPDATE ${table} SET body = ? WHERE`, [
    encodeBody({ kind: 'row', mark: 'another' }),
  ]);
  await changeWhereItIs(groups, away, (table) => `DELETE FROM ${table} WHERE`, []);
  const deleted = await onEachGroup(groups, (client) => deleteEntry(client, changed.row_key));
  if (sumOf(deleted) === 0) throw new Error('no entry was deleted');
}

async function changeWhereItIs(
  groups: readonly GroupAccess[],
  { row_key, column_name, ref_key }: NewCell,
  sqlOf: (table: string) => string,
  parameters: readonly SqlParameter[],
): Promise<void> {
  const changes = await onEachShard(
    groups,
    async (client, shard) => {
      const sql = `${sqlOf(entityTable(FORGOTTEN, shard))} row_key = ? AND column_name = ? AND ref_key = ?`;
      const address = [rowKeyBytes(row_key), Buffer.from(column_name), ref_key];
      return (await client.change({ sql, parameters: [...parameters, ...address] })).affectedRows;
    },
    FORGOTTEN,
  );
  if (sumOf(changes) !== 1) throw new Error(`wanted one cell that is changed, got ${sumOf(changes)}`);
}

async function deleteEntry(client: SqlClient, rowKey: string): Promise<number> {
  const tables = await rowsOf(
    client,
    `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '${FORGOTTEN}\\_%' AND table_name LIKE '${INDEX}%'`,
  );
  let count = 0;
  for (const [schema, name] of tables) {
    const sql = `DELETE FROM \`${toText(schema ?? null)}\`.\`${toText(name ?? null)}\` WHERE row_key = ?`;
    count += (await client.change({ sql, parameters: [rowKeyBytes(rowKey)] })).affectedRows;
  }
  return count;
}
