import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../access/context.ts';
import { indexTableName, type PhysicalIndex } from '../index/index-table.ts';
import { SHARD_STEPS } from '../migrate/steps.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { quoteName } from '../sql/names.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { ShardHome } from '../topology/topology.ts';
import { makeIndexTable } from './copy-indexes.ts';
import type { MovingClients } from './copy-log.ts';
import type { Move } from './move-item.ts';
import { isBound } from './moving-groups.ts';
import {
  createDatabase,
  createFence,
  dropCopy,
  dropFence,
  dropTablesOfCopy,
  renameTables,
  selectTables,
  toTableNames,
} from './statements/copy-tables.ts';
import { arriveShard, openShard, reopenShard, selectShardState, toShardState } from './statements/shard-states.ts';

/** The tables of a database; none where there is no such database. */
export async function tablesOf(client: SqlClient, database: string): Promise<readonly string[]> {
  return toTableNames(await client.select(selectTables(database), 'writer'));
}

/** Does nothing where they have the name already: the tables lie together, or not at all. */
export async function renameAll(client: SqlClient, from: string, to: string): Promise<void> {
  const tables = await tablesOf(client, from);
  if (tables.length > 0) await client.change(renameTables(from, to, tables));
}

/** Allows the switch of a move to take the names of the shard's tables away. */
export async function raiseFence(source: SqlClient, copy: string): Promise<void> {
  await source.change(createDatabase(copy));
  await source.change(createFence(copy));
}

/** Ends that, and drops the database that was made for the names of a switch, unless it is the copy's own. */
export async function takeFence(source: SqlClient, copy: string): Promise<void> {
  await source.change(createDatabase(copy));
  await source.change(dropFence(copy));
  if ((await tablesOf(source, copy)).length === 0) await source.change(dropCopy(copy));
}

/** Makes what a copy lacks of its database and tables. */
export async function makeCopy(
  target: SqlClient,
  { datastore, shard }: Pick<Move, 'datastore' | 'shard'>,
  indexes: readonly PhysicalIndex[],
): Promise<void> {
  const copy = copyDatabase(datastore, shard);
  for (const statements of SHARD_STEPS)
    for (const sql of statements(quoteName(copy))) await target.change({ sql, parameters: [] });
  const there = await tablesOf(target, copy);
  for (const index of indexes)
    if (!there.includes(indexTableName(index.name, index.hash))) await makeIndexTable(target, copy, index);
}

/** Drops what a copy has of index versions that no catalogue lists: with a switch they would be the shard's. */
export async function dropForgotten(
  target: SqlClient,
  { datastore, shard }: Pick<Move, 'datastore' | 'shard'>,
  catalogues: readonly IndexCatalogue[],
): Promise<void> {
  const copy = copyDatabase(datastore, shard);
  const known = new Set([
    'entity',
    ...catalogues.flatMap(({ name, versions }) => versions.map(({ hash }) => indexTableName(name, hash))),
  ]);
  const forgotten = (await tablesOf(target, copy)).filter((name) => !known.has(name));
  if (forgotten.length > 0) await target.change(dropTablesOfCopy(copy, forgotten));
}

/**
 * Brings a shard and its copy to what the topology says of them: a group that failed over may have forgotten that
 * tables were renamed, or a shard closed or opened; and whoever moved it may have died in between. `home`: of the
 * shard, as the topology has it now: the move's source. Throws SchemalessError `internal` where tables lie under both
 * names: nobody but an operator knows which are which.
 */
export async function mendNames(
  context: StoreContext,
  move: Move,
  home: ShardHome,
  { source, target }: MovingClients,
): Promise<void> {
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  await nameThem(source, copy, shard);
  await openHome(context, move, home, source);
  await nameThem(target, shard, copy);
}

async function nameThem(client: SqlClient, wrong: string, right: string): Promise<void> {
  const lying = await tablesOf(client, wrong);
  if (lying.length === 0) return;
  if ((await tablesOf(client, right)).length > 0)
    throw new SchemalessError(
      'internal',
      `there are tables in ${wrong} and in ${right}: drop those that are not wanted`,
    );
  await client.change(createDatabase(right));
  await client.change(renameTables(wrong, right, lying));
}

/** Opens a shard at its home. A row that a promoted replica lacks is rewritten, closed until cells are back. */
async function openHome(context: StoreContext, move: Move, home: ShardHome, source: SqlClient): Promise<void> {
  const row = toShardState(await source.select(selectShardState(move), 'writer'));
  if (row?.state === 'moving') await source.change(reopenShard(move, row.epoch));
  if (row && row.state !== 'arriving' && row.state !== 'moved') return;
  await source.change(arriveShard(move, home.epoch, { first_id: row?.first_id ?? 1, step: SHARD_STEPS.length }));
  // Whether something was erased meanwhile the row may not know: to look for it harms nothing.
  await source.change(openShard(move, home.epoch, (await isBound(context, move.from)) ? 'nobody' : false, true));
}
