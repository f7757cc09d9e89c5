import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { DATASTORE, groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';

/** Deletes the first trip of each shard of a group behind the store's back; its index entries stay. Returns how many there were. */
export async function deleteTrips(groups: readonly GroupAccess[], group: string): Promise<number> {
  const client = groupClient(groups, group, PATIENT);
  try {
    const shards = await client.select({ sql: 'SELECT shard FROM `schemaless`.shard WHERE datastore = ?', parameters: [DATASTORE] }, 'writer');
    let deleted = 0;
    for (const [shard] of shards) {
      const sql = `DELETE FROM ${entityTable(DATASTORE, toNumber(shard ?? null))} WHERE column_name = ? ORDER BY added_id LIMIT 1`;
      deleted += (await client.change({ sql, parameters: [Buffer.from('BASE')] })).affectedRows;
    }
    return deleted;
  } finally {
    await client.close();
  }
}
