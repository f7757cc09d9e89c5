import { entityTable } from '../../../shared/sql/names.ts';
import { onEachShard } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

/** Drops what makes a repeated append harmless: from now on each append of a cell stores it once more. */
export async function dropUniqueKeys(groups: readonly GroupAccess[]): Promise<void> {
  await onEachShard(groups, (client, shard) =>
    client.change({ sql: `ALTER TABLE ${entityTable(DATASTORE, shard)} DROP KEY cell`, parameters: [] }),
  );
}
