import { rowKeyOf } from '../../../shared/address.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { fromSqlTime } from '../../../shared/time.ts';
import { groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';
import { cellName } from './deliveries.ts';

/** A cell as it lies in its shard's table. */
export interface LoggedCell {
  readonly shard: number;
  readonly added_id: number;
  readonly ref_key: number;
  /** As deliveries name it. */
  readonly cell: string;
}

/** Reads a datastore's logs from the groups' writers with plain SQL, past the store, each in its order. */
export async function loggedCells(groups: readonly GroupAccess[], datastore: string): Promise<readonly LoggedCell[]> {
  const cells = await Promise.all(
    groups.map(async ({ name }) => {
      const client = groupClient(groups, name, PATIENT);
      try {
        const owned = await client.select(
          { sql: 'SELECT shard FROM `schemaless`.shard WHERE datastore = ? ORDER BY shard', parameters: [datastore] },
          'writer',
        );
        const ofGroup: LoggedCell[] = [];
        for (const [owner] of owned) {
          const shard = toNumber(owner);
          const sql = `SELECT added_id, row_key, column_name, ref_key, created_at FROM ${entityTable(datastore, shard)} ORDER BY added_id`;
          for (const [id, rowKey, column, refKey, at] of await client.select({ sql, parameters: [] }, 'writer')) {
            const ref_key = toNumber(refKey);
            const cell = cellName({
              row_key: rowKeyOf(toBytes(rowKey)),
              column_name: toText(column),
              ref_key,
              created_at: fromSqlTime(String(at)),
            });
            ofGroup.push({ shard, added_id: toNumber(id), ref_key, cell });
          }
        }
        return ofGroup;
      } finally {
        await client.close();
      }
    }),
  );
  return cells.flat();
}
