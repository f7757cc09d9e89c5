import { createIndexTable, indexTableName } from '../index/index-table.ts';
import { shardDatabase } from '../address.ts';
import type { SqlClient, Statement } from '../sql/client.ts';
import { toText } from '../sql/cell-rows.ts';
import { quoteName } from '../sql/names.ts';
import type { IndexVersion } from '../topology/index-catalogue.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { sideBySide } from '../side-by-side.ts';

/** Tables created before it is asked again whether there is time for more. */
const TABLES_A_PAGE = 64;

export function indexTableStatement(datastore: string, shard: number, { hash, definition }: IndexVersion): Statement {
  return {
    sql: createIndexTable(
      quoteName(shardDatabase(datastore, shard)),
      indexTableName(definition.name, hash),
      definition,
    ),
    parameters: [],
  };
}

/**
 * Creates the tables of an index version in all shards that a group owns and that lack it. Goes on where it stopped,
 * since what is there is looked up first. Returns whether all are there.
 */
export async function createIndexTables(
  client: SqlClient,
  group: string,
  { datastore, homes }: DatastoreTopology,
  version: IndexVersion,
  mayGoOn: () => boolean,
): Promise<boolean> {
  if (!mayGoOn()) return false;
  const rows = await client.select(
    {
      sql: 'SELECT table_schema FROM information_schema.tables WHERE table_name = ?',
      parameters: [indexTableName(version.definition.name, version.hash)],
    },
    'writer',
  );
  const there = new Set(rows.map(([database]) => toText(database)));
  const missing = homes.flatMap((home, shard) =>
    home.group === group && !there.has(shardDatabase(datastore, shard)) ? [shard] : [],
  );
  for (let start = 0; start < missing.length; start += TABLES_A_PAGE) {
    if (!mayGoOn()) return false;
    await sideBySide(
      missing.slice(start, start + TABLES_A_PAGE),
      async (shard) => void (await client.change(indexTableStatement(datastore, shard, version))),
    );
  }
  return true;
}
