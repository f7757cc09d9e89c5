import { entityTable } from '../../../shared/sql/names.ts';
import { onEachShard } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';
import { rewording } from '../changed-clients.ts';

/** What leaves out cells that exist. */
const LEFT_OUT = ' AND old.added_id IS NULL';

/**
 * Drops what keeps a server from storing a cell twice; its appends leave out what exists all the same. The key itself
 * stays, by which statements read.
 */
export async function dropUniqueKeys(groups: readonly GroupAccess[]): Promise<void> {
  await onEachShard(groups, (client, shard) =>
    client.change({
      sql: `ALTER TABLE ${entityTable(DATASTORE, shard)} DROP KEY cell, ADD KEY cell (row_key, column_name, ref_key)`,
      parameters: [],
    }),
  );
}

/**
 * URL of this module, for an access whose appends leave out nothing: on tables without unique keys each stores its cell
 * once more.
 */
export const REPEATS_APPENDS = import.meta.url;

/** A client whose appends leave out nothing. A control. */
export const wrap = rewording((sql) => sql.replace(LEFT_OUT, ''));
