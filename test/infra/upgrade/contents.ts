import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { shardDatabase } from '../../../shared/address.ts';
import type { SqlClient, SqlValue } from '../../../shared/sql/client.ts';
import { definitionHash } from '../../../shared/topology/index-catalogue.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { STORED_A_SHARD, type Release } from './release.ts';

/** Rows as text, by what they are of. */
export type Contents = Readonly<Record<string, readonly string[]>>;

/**
 * What a release left that nobody may touch: its cells, its index entries, and the rows of its shards, but for columns
 * that came later.
 */
export async function contentsOf(release: Pick<Release, 'datastore' | 'groups' | 'connect'>): Promise<Contents> {
  const { datastore, groups, connect } = release;
  const ofGroups = groups.map((group, position) =>
    withClient(connect, group, (client) => contentsOfGroup(client, datastore, { position, groups: groups.length })),
  );
  return Object.assign({}, ...(await Promise.all(ofGroups)));
}

async function contentsOfGroup(
  client: SqlClient,
  datastore: DatastoreDefinition,
  { position, groups }: { readonly position: number; readonly groups: number },
): Promise<Contents> {
  const { name, shards, indexes } = datastore;
  const contents: Record<string, readonly string[]> = {
    [`shards of group ${position}`]: await rowsOf(
      client,
      `SELECT datastore, shard, epoch, state, first_id FROM schemaless.shard WHERE datastore = '${name}' ORDER BY shard`,
    ),
  };
  for (let shard = position; shard < shards; shard += groups) {
    const database = shardDatabase(name, shard);
    contents[`cells of shard ${shard}`] = await rowsOf(
      client,
      `SELECT added_id, row_key, column_name, ref_key, body, created_at FROM ${database}.entity WHERE added_id <= ${STORED_A_SHARD} ORDER BY added_id`,
    );
    for (const index of indexes) {
      // Of rows that came later no entry is so old.
      contents[`${index.name} of shard ${shard}`] = await rowsOf(
        client,
        `SELECT f0, f1, row_key, epoch, added_id, tombstone_at FROM ${database}.${indexTableName(index.name, definitionHash(index))} WHERE added_id <= ${STORED_A_SHARD} ORDER BY row_key`,
      );
    }
  }
  return contents;
}

/** Everything that is in the control databases of the groups. */
export async function controlRows({ groups, connect }: Pick<Release, 'groups' | 'connect'>): Promise<Contents> {
  const ofGroups = groups.map((group) =>
    withClient(connect, group, async (client) => ({
      [`migration of ${group.name}`]: await rowsOf(client, 'SELECT * FROM schemaless.migration ORDER BY step'),
      [`shard of ${group.name}`]: await rowsOf(client, 'SELECT * FROM schemaless.shard ORDER BY datastore, shard'),
      [`buffer of ${group.name}`]: await rowsOf(client, 'SELECT * FROM schemaless.buffer ORDER BY id'),
    })),
  );
  return Object.assign({}, ...(await Promise.all(ofGroups)));
}

/** How the tables of a group's databases are made: columns and keys of each, and the steps taken. */
export async function tablesOf(
  { connect }: Pick<Release, 'connect'>,
  group: GroupAddress,
  databases: string,
): Promise<Contents> {
  const where = `WHERE table_schema = 'schemaless' OR table_schema LIKE '${databases}'`;
  return withClient(connect, group, async (client) => ({
    columns: await rowsOf(
      client,
      `SELECT table_schema, table_name, column_name, ordinal_position, column_type, is_nullable, column_default FROM information_schema.columns ${where} ORDER BY 1, 2, 4`,
    ),
    keys: await rowsOf(
      client,
      `SELECT table_schema, table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics ${where} ORDER BY 1, 2, 3, 4`,
    ),
    steps: await rowsOf(client, 'SELECT step FROM schemaless.migration ORDER BY step'),
  }));
}

export async function withClient<T>(
  connect: Release['connect'],
  group: GroupAddress,
  use: (client: SqlClient) => Promise<T>,
): Promise<T> {
  const client = connect(group);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function rowsOf(client: SqlClient, sql: string): Promise<readonly string[]> {
  const rows = await client.select({ sql, parameters: [] }, 'writer');
  return rows.map((row) => row.map(shown).join(' | '));
}

function shown(value: SqlValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
