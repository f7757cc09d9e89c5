import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlParameter } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { sumOf } from '../fault-run.ts';
import { FORGOTTEN, INDEX } from './clinic.ts';

/** Gives a cell another body, past the store, as no erasure of another row may. */
export async function changeBody(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  const body = encodeBody({ kind: 'row', mark: 'another' });
  await changeWhereItIs(groups, cell, (table) => `UPDATE ${table} SET body = ? WHERE`, [body]);
}

/** Takes a cell out of its log, past the store. */
export async function takeOut(groups: readonly GroupAccess[], cell: NewCell): Promise<void> {
  await changeWhereItIs(groups, cell, (table) => `DELETE FROM ${table} WHERE`, []);
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

const SOME = 20;

/** Deletes some entries of each index table, or those of a row, past the store: a repair has to bring them back. */
export async function deleteEntries(groups: readonly GroupAccess[], row_key?: string): Promise<void> {
  const which = row_key === undefined ? `tombstone_at IS NULL LIMIT ${SOME}` : 'row_key = ?';
  const parameters = row_key === undefined ? [] : [rowKeyBytes(row_key)];
  const deleted = await onEachGroup(groups, async (client) => {
    const tables = `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '${FORGOTTEN}\\_%' AND table_name LIKE '${INDEX}%'`;
    let count = 0;
    for (const [schema, name] of await rowsOf(client, tables)) {
      const sql = `DELETE FROM \`${toText(schema ?? null)}\`.\`${toText(name ?? null)}\` WHERE ${which}`;
      count += (await client.change({ sql, parameters })).affectedRows;
    }
    return count;
  });
  if (sumOf(deleted) === 0) throw new Error('no entry was deleted');
}
