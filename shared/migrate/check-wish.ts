import type { DynamoTable } from '../dynamo/table.ts';
import type { SqlClient } from '../sql/client.ts';
import { readDeployed, writeDeployed } from '../topology/deployed-definitions.ts';
import { readDeletionMark } from '../topology/deletion-mark.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import { takeDeletionBack } from './delete-datastore.ts';
import type { WishedTriggers } from './deployed-triggers.ts';
import { stepControl } from './step-control.ts';
import type { MigrationWish, WishedDatastore } from './migration-wish.ts';

/** Throws an `Error` that names what is wrong with a wish: another shard count, a group gone that still owns shards. */
export async function checkWish(topologyTable: DynamoTable, { groups, datastores }: MigrationWish): Promise<void> {
  const names = new Set(groups.map(({ name }) => name));
  for (const { name, shards } of datastores) {
    if (await readDeletionMark(topologyTable, name))
      throw new Error(
        `datastore ${name}: wanted another name, or its deletion finished, got one that is being deleted`,
      );
    const existing = await readDatastore(topologyTable, name);
    if (!existing) continue;
    if (existing.shards !== shards)
      throw new Error(
        `datastore ${name}: wanted its ${existing.shards} shards, fixed when it was created, got ${shards}`,
      );
    const gone = existing.homes.find(({ group }) => !names.has(group));
    if (gone)
      throw new Error(
        `groups: wanted ${gone.group} among them, which owns shards of ${name}, got ${[...names].join(', ')}`,
      );
  }
}

/**
 * What is to be migrated, without datastores that are being deleted and that nobody but an `apply` wished. A deletion
 * that was cut off before it was decided is taken back: nobody goes on with it, since this has its lease.
 */
export async function withoutDeleted<T extends WishedTriggers>(
  topologyTable: DynamoTable,
  deployed: readonly WishedDatastore[],
  wished: readonly T[],
  clients: ReadonlyMap<string, SqlClient>,
): Promise<readonly T[]> {
  const left: T[] = [];
  for (const datastore of wished) {
    const mark = await readDeletionMark(topologyTable, datastore.name);
    if (mark?.isJudging) {
      // The mark may be of a release whose groups have no fences.
      for (const client of clients.values()) await stepControl(client);
      await takeDeletionBack(topologyTable, datastore.name, { clients, mark });
    }
    if (!mark || mark.isJudging || deployed.some(({ name }) => name === datastore.name)) left.push(datastore);
  }
  return left;
}

/** Says what the deployment defines, before anything is made of it: nobody is to change it from here on. */
export async function noteDeployed(topologyTable: DynamoTable, { datastores }: MigrationWish): Promise<void> {
  const before = await readDeployed(topologyTable);
  await writeDeployed(topologyTable, {
    datastores: datastores.map(({ name, shards, indexes, triggers }) => ({
      name,
      shards,
      indexes,
      triggers:
        triggers?.map(({ definition }) => definition) ??
        before?.datastores.find((one) => one.name === name)?.triggers ??
        [],
    })),
  });
}
