import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { DATASTORE, groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';

/** Drops what makes a repeated append harmless: from now on each append of a cell stores it once more. */
export async function dropUniqueKeys(groups: readonly GroupAccess[]): Promise<void> {
  await Promise.all(
    groups.map(async ({ name }) => {
      const client = groupClient(groups, name, PATIENT);
      try {
        const owned = await client.select({ sql: 'SELECT shard FROM `schemaless`.shard WHERE datastore = ?', parameters: [DATASTORE] }, 'writer');
        for (const [shard] of owned) await client.change({ sql: `ALTER TABLE ${entityTable(DATASTORE, toNumber(shard))} DROP KEY cell`, parameters: [] });
      } finally {
        await client.close();
      }
    }),
  );
}
