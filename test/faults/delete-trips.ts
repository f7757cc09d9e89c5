import { entityTable } from '../../shared/sql/names.ts';
import { ownedShards, withClient } from '../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../support/store-access.ts';

/** Deletes the first trip of each shard of a group past the store. Returns their count. */
export async function deleteTrips(groups: readonly GroupAccess[], group: string): Promise<number> {
  return withClient(groups, group, async (client) => {
    let deleted = 0;
    for (const shard of await ownedShards(client)) {
      const sql = `DELETE FROM ${entityTable(DATASTORE, shard)} WHERE column_name = ? ORDER BY added_id LIMIT 1`;
      deleted += (await client.change({ sql, parameters: [Buffer.from('BASE')] })).affectedRows;
    }
    return deleted;
  });
}
