import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlParameter } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import { sumOf } from '../fault-run.ts';
import { FORGOTTEN, INDEX } from './marked-cells.ts';

/** Gives a cell another body, past the store, as no erasure of another row may. */
export async function changeBody(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  const body = encodeBody({ kind: 'row', mark: 'another' });
  await changeWhereItIs(groups, cell, (table) => `UPDATE ${table} SET body = ? WHERE`, [body]);
}

/** Takes a cell out of its log, past the store. */
export async function takeOut(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  await changeWhereItIs(groups, cell, (table) => `DELETE FROM ${table} WHERE`, []);
}

/** Takes the entry of a row out of its index, past the store. */
export async function takeOutEntry(groups: readonly GroupAccess[], { row_key }: NewCell): Promise<void> {
  const deleted = await onEachGroup(groups, (client) => deleteEntry(client, row_key));
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
