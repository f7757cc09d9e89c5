import { toNumber } from '../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlParameter, SqlRow } from '../../shared/sql/client.ts';
import { CONTROL } from '../../shared/sql/names.ts';
import { DATASTORE, groupClient, PATIENT, type GroupAccess } from './store-access.ts';

/** Plain SQL to one group, past the store: however busy the machine is, it is to be answered. */
export async function withClient<T>(
  groups: readonly GroupAccess[],
  group: string,
  work: (client: SqlClient) => Promise<T>,
): Promise<T> {
  const client = groupClient(groups, group, PATIENT);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Rows of a group's writer, by plain SQL. */
export function rowsOf(
  client: SqlClient,
  sql: string,
  parameters: readonly SqlParameter[] = [],
): Promise<readonly SqlRow[]> {
  return client.select({ sql, parameters }, 'writer');
}

/** Does the same to every group in parallel. Returns the results in the order of the groups. */
export async function onEachGroup<T>(
  groups: readonly GroupAccess[],
  work: (client: SqlClient, group: string) => Promise<T>,
): Promise<readonly T[]> {
  return Promise.all(groups.map(({ name }) => withClient(groups, name, (client) => work(client, name))));
}

/** The shards that a group says it owns, ascending. */
export async function ownedShards(client: SqlClient, datastore = DATASTORE): Promise<readonly number[]> {
  const sql = `SELECT shard FROM ${CONTROL}.shard WHERE datastore = ? AND state NOT IN ('moved', 'arriving') ORDER BY shard`;
  return (await rowsOf(client, sql, [datastore])).map(([shard]) => toNumber(shard));
}

/** Works on each shard at its owner: in turn within a group, with the groups in parallel. */
export async function onEachShard<T>(
  groups: readonly GroupAccess[],
  work: (client: SqlClient, shard: number) => Promise<T>,
  datastore = DATASTORE,
): Promise<readonly T[]> {
  const ofGroups = await onEachGroup(groups, async (client) => {
    const done: T[] = [];
    for (const shard of await ownedShards(client, datastore)) done.push(await work(client, shard));
    return done;
  });
  return ofGroups.flat();
}
