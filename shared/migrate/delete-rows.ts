import type { SqlClient } from '../sql/client.ts';
import { CONTROL } from '../sql/names.ts';

/** Rows that one statement deletes. */
const ROWS = 1000;

/**
 * Deletes what the control database of a group has of a datastore that is gone besides its shards: copies of its
 * writes, and bells.
 *
 * @returns whether nothing is left
 */
export async function deleteRows(client: SqlClient, datastore: string, mayGoOn: () => boolean): Promise<boolean> {
  for (const table of ['buffer', 'bell']) {
    for (let deleted = ROWS; deleted === ROWS;) {
      if (!mayGoOn()) return false;
      const sql = `DELETE FROM ${CONTROL}.${table} WHERE datastore = ? LIMIT ${ROWS}`;
      deleted = (await client.change({ sql, parameters: [datastore] })).affectedRows;
    }
  }
  return true;
}
