import { shardDatabase } from '../../../shared/shard.ts';
import { DATASTORE, groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';

/**
 * Lets a group's writer refuse each append to some shards, as a server does whose tablespace is full or that lacks a
 * right: error 1644, of the same sort.
 */
export async function refuseAppends(groups: readonly GroupAccess[], group: string, shards: Iterable<number>): Promise<void> {
  await using client = opened(groups, group);
  for (const shard of shards) {
    const database = shardDatabase(DATASTORE, shard);
    await client.change({ sql: `CREATE TRIGGER ${database}.refuses BEFORE INSERT ON ${database}.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`, parameters: [] });
  }
}

/** Mends it, on the group's writer. */
export async function takeAppends(groups: readonly GroupAccess[], group: string, shards: Iterable<number>): Promise<void> {
  await using client = opened(groups, group);
  for (const shard of shards) await client.change({ sql: `DROP TRIGGER IF EXISTS ${shardDatabase(DATASTORE, shard)}.refuses`, parameters: [] });
}

function opened(groups: readonly GroupAccess[], group: string) {
  const client = groupClient(groups, group, PATIENT);
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}
