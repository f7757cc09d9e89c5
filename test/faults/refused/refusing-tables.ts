import { shardDatabase } from '../../../shared/shard.ts';
import { withClient } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

/**
 * Lets a group's writer refuse each append to some shards, as a server does whose tablespace is full or that lacks a
 * right: error 1644, of the same sort.
 */
export async function refuseAppends(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
): Promise<void> {
  await onDatabases(
    groups,
    group,
    shards,
    (database) =>
      `CREATE TRIGGER ${database}.refuses BEFORE INSERT ON ${database}.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`,
  );
}

/** Mends it, on the group's writer. */
export async function takeAppends(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
): Promise<void> {
  await onDatabases(groups, group, shards, (database) => `DROP TRIGGER IF EXISTS ${database}.refuses`);
}

async function onDatabases(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
  sqlOf: (database: string) => string,
): Promise<void> {
  await withClient(groups, group, async (client) => {
    for (const shard of shards) await client.change({ sql: sqlOf(shardDatabase(DATASTORE, shard)), parameters: [] });
  });
}
