import type { SqlClient } from '../sql/client.ts';
import { CONTROL } from '../sql/names.ts';
import { IS_FENCED_SINCE } from '../sql/statements/deletion-fence.ts';

/** Rows that one statement deletes. */
const ROWS = 1000;

/**
 * Deletes what the control database of a group has of a datastore that is gone besides its shards: copies of its
 * writes, those that were drained among them, and bells.
 *
 * @param since of the deletion, whose fence has to be up still @default nothing of the datastore is there any more
 * @returns whether nothing is left
 */
export async function deleteRows(
  client: SqlClient,
  datastore: string,
  mayGoOn: () => boolean,
  since?: string,
): Promise<boolean> {
  const fenced = since === undefined ? '' : ` AND ${IS_FENCED_SINCE}`;
  for (const table of ['buffer', 'drained', 'bell']) {
    for (let deleted = ROWS; deleted === ROWS;) {
      if (!mayGoOn()) return false;
      const sql = `DELETE FROM ${CONTROL}.${table} WHERE ${CONTROL}.${table}.datastore = ?${fenced} LIMIT ${ROWS}`;
      deleted = (
        await client.change({ sql, parameters: since === undefined ? [datastore] : [datastore, datastore, since] })
      ).affectedRows;
    }
  }
  return true;
}
