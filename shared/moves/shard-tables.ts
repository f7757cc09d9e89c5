import { randomUUID } from 'node:crypto';
import type { DynamoTable } from '../dynamo/table.ts';
import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../access/context.ts';
import { createIndexTable, indexTableName, type PhysicalIndex } from '../index/index-table.ts';
import { SHARD_STEPS } from '../migrate/steps.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { quoteName } from '../sql/names.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import { beginAttempt, isLastAttempt } from '../topology/moving-shards.ts';
import type { ShardHome } from '../topology/topology.ts';
import type { MovingClients } from './copy-log.ts';
import type { Move } from './move-item.ts';
import {
  createDatabase,
  createFence,
  dropFence,
  dropTablesOfCopy,
  renameFenced,
  renameTables,
  selectFences,
  selectTables,
  toTableNames,
} from './statements/copy-tables.ts';
import {
  arriveShard,
  leaveShard,
  openShard,
  reopenShard,
  selectShardState,
  toShardState,
} from './statements/shard-states.ts';
import { sharesStorage } from '../access/groups.ts';

/** The tables of a database; none where there is no such database. */
export async function tablesOf(client: SqlClient, database: string): Promise<readonly string[]> {
  return toTableNames(await client.select(selectTables(database), 'writer'));
}

/** Does nothing where they have the name already: the tables lie together, or not at all. */
export async function renameAll(client: SqlClient, from: string, to: string): Promise<void> {
  const tables = await tablesOf(client, from);
  if (tables.length > 0) await client.change(renameTables(from, to, tables));
}

/** A group whose tables may have the wrong name: the shard's on the copy's group, or the copy's on the home. */
interface Misnamed {
  readonly topologyTable: DynamoTable;
  /** As the topology has it: `from` holds the shard, `to` the copy. */
  readonly move: Pick<Move, 'datastore' | 'shard' | 'id' | 'from' | 'to'>;
  readonly client: SqlClient;
  /** `client` is that of `from`. @default that of `to` */
  readonly isHome?: boolean;
}

/**
 * Renames tables of a shard that have the wrong name on a group. It begins an attempt first, which ends all others: the
 * shard cannot switch before the rename. Throws SchemalessError `unavailable` if it has switched, `internal` if tables
 * of both names exist.
 */
export async function putRight({ topologyTable, move, client, isHome = false }: Misnamed): Promise<void> {
  const names = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)] as const;
  const [wrong, right] = isHome ? [names[1], names[0]] : names;
  const tables = await tablesOf(client, wrong);
  if (tables.length === 0) return;
  if ((await tablesOf(client, right)).length > 0)
    throw new SchemalessError(
      'internal',
      `there are tables in ${wrong} and in ${right}: drop those that are not wanted`,
    );
  const attempt = randomUUID();
  await client.change(createDatabase(right));
  await client.change(createFence(wrong, attempt));
  if (!(await beginAttempt(topologyTable, move, attempt))) throw movedByAnother(move);
  await client.change(renameFenced(wrong, right, tables, attempt));
  await client.change(dropFence(wrong, attempt));
}

/**
 * Ends all attempts to switch a shard and reopens it: none of them decides or closes anything afterwards. Returns false
 * if the shard is on another group. Throws SchemalessError `unavailable` if a later attempt has begun.
 */
export async function endAttempts(
  { topologyTable }: Pick<Misnamed, 'topologyTable'>,
  move: Move,
  source: SqlClient,
): Promise<boolean> {
  const mine = randomUUID();
  if (!(await beginAttempt(topologyTable, move, mine))) return false;
  for (;;) {
    const row = toShardState(await source.select(selectShardState(move), 'writer'));
    if (!row || row.closedBy === mine || !['open', 'moving'].includes(row.state)) break;
    // A later attempt may have closed the shard: it has to stay closed then.
    if (!(await isLastAttempt(topologyTable, move, mine))) throw movedByAnother(move);
    await source.change(reopenShard(move, row.closedBy, mine));
  }
  await dropFences(source, shardDatabase(move.datastore, move.shard));
  return true;
}

export function movedByAnother({ shard, datastore }: Pick<Move, 'shard' | 'datastore'>): SchemalessError {
  return new SchemalessError('unavailable', `another moves shard ${shard} of ${datastore} by now`);
}

/** Drops all fences of a database, so that late renames of ended attempts fail. */
export async function dropFences(client: SqlClient, database: string): Promise<void> {
  for (const attempt of toTableNames(await client.select(selectFences(database), 'writer')))
    await client.change(dropFence(database, attempt));
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
    if (!there.includes(indexTableName(index.name, index.hash))) await target.change(createIndexTable(copy, index));
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
 * Makes a shard and its copy match the topology. A group that failed over may have lost a rename of tables, or the
 * closing or opening of a shard, and the mover may have died in between. `home`: of the shard, as the topology has it
 * now: the move's source. Throws SchemalessError `internal` if tables exist under both names: only an operator knows
 * which are which. A shard closed by an attempt stays closed.
 */
export async function repairNames(
  { context, topologyTable }: { readonly context: StoreContext; readonly topologyTable: DynamoTable },
  move: Move,
  home: ShardHome,
  { source, target }: MovingClients,
): Promise<void> {
  await putRight({ topologyTable, move, client: source, isHome: true });
  await openHome(context, move, home, source);
  await target.change(leaveShard(move, home.epoch));
  await putRight({ topologyTable, move, client: target });
}

/** Opens a shard at its home. A row that a promoted replica lacks is rewritten, closed until cells are back. */
async function openHome(context: StoreContext, move: Move, home: ShardHome, source: SqlClient): Promise<void> {
  const row = toShardState(await source.select(selectShardState(move), 'writer'));
  if (row && row.state !== 'arriving' && row.state !== 'moved') return;
  await source.change(arriveShard(move, home.epoch, { first_id: row?.first_id ?? 1, step: SHARD_STEPS.length }));
  // The row may not know of recent erasures: checking for them harms nothing.
  await source.change(openShard(move, home.epoch, (await isBound(context, move.from)) ? 'nobody' : false, true));
}

/** Returns whether one server at a time takes appends: the store keeps hints, and nodes have files of their own. */
export async function isBound(context: StoreContext, group: string): Promise<boolean> {
  return context.bufferCopies > 0 && !(await sharesStorage(context.topology, group));
}
