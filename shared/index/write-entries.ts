import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient, type Statement } from '../sql/client.ts';
import { isGone } from '../sql/gone.ts';
import { indexTable } from './index-table.ts';
import { insertEntries, putEntries } from './statements/put-entries.ts';
import type { EntryOfShard } from './wanted-entries.ts';

/** How often a shard that moved makes the topology be read again. */
const REFRESH_MS = 1000;

interface EntryWrite {
  /** The cells of their rows are known to be new. */
  readonly areNew?: boolean;
  /** Whether they are still to be sent. @default they are */
  readonly isWanted?: () => boolean;
}

/** Retries an unclear end: writing an entry twice does nothing. */
async function changeSurely(client: SqlClient, statement: Statement): Promise<void> {
  try {
    await client.change(statement);
  } catch (error) {
    if (!isUnclear(error) || statement.isWanted?.() === false) throw error;
    await client.change(statement);
  }
}

function isUnclear(error: unknown): boolean {
  return error instanceof SqlError && error.failure === 'unclear' && !error.timedOut;
}

/** Writes entries of one table; first ones by a shorter INSERT, which pays in a shared commit. */
async function putOrInsert(
  client: SqlClient,
  datastore: string,
  ofTable: readonly EntryOfShard[],
  { areNew = false, isWanted }: EntryWrite,
): Promise<void> {
  const { index, shard } = ofTable[0] as EntryOfShard;
  const rows = ofTable.map(({ row }) => row);
  if (areNew && client.abilities.sharesCommits === true && ofTable.every(({ isFirst }) => isFirst === true)) {
    try {
      return void (await client.change({ ...insertEntries(datastore, shard, index, rows), isWanted }));
    } catch (error) {
      if (!isUnclear(error) && !(error instanceof SqlError && error.failure === 'duplicate')) throw error;
    }
  }
  await changeSurely(client, { ...putEntries(datastore, shard, index, rows), isWanted });
}

/**
 * Statements of a table at once. More would fill the memory while a table is locked; the repair writes their entries.
 */
const MOST_UNDER_WAY = 500;

/** Throws `overloaded` if too many wait for the table. */
async function bounded(underWay: Map<string, number>, table: string, write: () => Promise<unknown>): Promise<void> {
  const count = underWay.get(table) ?? 0;
  if (count >= MOST_UNDER_WAY) throw new SchemalessError('overloaded', `too many writes wait for ${table}`);
  underWay.set(table, count + 1);
  try {
    await write();
  } finally {
    const left = (underWay.get(table) ?? 0) - 1;
    if (left > 0) underWay.set(table, left);
    else underWay.delete(table);
  }
}

export interface MissedEntries {
  readonly group: string;
  readonly entries: readonly EntryOfShard[];
  readonly error: unknown;
}

/**
 * Writes entries to the shards of their shard fields, one statement a table, in parallel. Entries of a moving shard
 * also go to its copy, whose misses are found when it becomes the shard. Returns what could not be written, by table.
 */
export async function writeEntries(
  context: StoreContext,
  datastore: string,
  entries: readonly EntryOfShard[],
  how: EntryWrite = {},
): Promise<readonly MissedEntries[]> {
  if (entries.length === 0) return [];
  const topology = await requireDatastore(context.topology, datastore);
  const tables =
    entries.length === 1
      ? [entries]
      : [...Map.groupBy(entries, ({ index, shard }) => `${index.name}_${index.hash}/${shard}`).values()];
  const missed: MissedEntries[] = [];
  await Promise.all(
    tables.map(async (ofTable) => {
      const { index, shard } = ofTable[0] as EntryOfShard;
      const { group, copy } = homeOf(topology, shard);
      try {
        const client = await context.groups.client(group);
        await bounded(context.found.entries, indexTable(datastore, shard, index), () => {
          const writing = putOrInsert(client, datastore, ofTable, how);
          return copy?.takesEntries === true ? Promise.all([writing, writeToCopy(ofTable, copy.group)]) : writing;
        });
      } catch (error) {
        // The repair asks where a moved shard is.
        if (isGone(error)) context.topology.refresh(REFRESH_MS);
        missed.push({ group, entries: ofTable, error });
      }
    }),
  );
  return missed;

  async function writeToCopy(ofTable: readonly EntryOfShard[], group: string): Promise<void> {
    const { index, shard } = ofTable[0] as EntryOfShard;
    const rows = ofTable.map(({ row }) => row);
    try {
      const statement = { ...putEntries(datastore, shard, index, rows, 'copy'), isWanted: how.isWanted };
      await changeSurely(await context.groups.client(group), statement);
    } catch (error) {
      if (isGone(error)) context.topology.refresh(REFRESH_MS);
    }
  }
}
