import type { StoreContext } from '../store/context.ts';
import { byGroup, groupBy, placeOf } from '../store/context.ts';
import { selectRowStates, toRowStates, type ColumnDepth, type RowOfShard } from '../sql/statements/select-row-states.ts';
import { putEntries, type IndexRow } from '../sql/statements/put-entries.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { readLongRow } from './long-row.ts';
import { columnsOf, entriesOf, type RowState } from './entry.ts';
import { shardOfValue, type FieldValue } from './field-value.ts';
import type { PhysicalIndex } from './index-table.ts';

/** How many cells of the shard field's column are looked at for former values. */
export const DEPTH = {
  /** The write path: the latest cell and the one before it. What an earlier writer missed, the repair makes good. */
  recent: 2,
  /** The repair: every value that an entry may ever have been under. */
  all: 10_000,
} as const;

/** A row of an index table and the shard that it belongs to. */
export interface PlacedEntry {
  readonly index: PhysicalIndex;
  readonly shard: number;
  readonly row: IndexRow;
}

/**
 * What the indexes should hold of some rows, read **now** from the writers of the rows' groups: never from a body in
 * hand, so that whoever comes last has seen the most.
 *
 * @param depth cells of the shard field's column to look for former values
 * @throws SqlError when a group cannot be asked
 */
export async function wantedEntries(context: StoreContext, datastore: string, indexes: readonly PhysicalIndex[], rows: readonly RowOfShard[], depth: number): Promise<readonly PlacedEntry[]> {
  if (indexes.length === 0 || rows.length === 0) return [];
  const topology = await requireDatastore(context.topology, datastore);
  const columns = depthsOf(indexes, depth);
  const states = await Promise.all(
    [...byGroup(topology, rows)].map(async ([group, ofGroup]) => {
      const client = await context.groups.client(group);
      return statesOf(client, datastore, ofGroup, columns);
    }),
  );
  return states.flat().flatMap((state) => indexes.flatMap((index) => placeEntries(index, state, topology)));
}

async function statesOf(client: SqlClient, datastore: string, rows: readonly RowOfShard[], columns: readonly ColumnDepth[]): Promise<readonly RowState[]> {
  try {
    return toRowStates(await client.select(selectRowStates(datastore, rows, columns), 'writer'), rows);
  } catch (error) {
    const [only] = rows;
    if (!(error instanceof SqlError) || !error.tooLarge || !only) throw error;
    if (rows.length === 1) return [await readLongRow(client, datastore, only, columns)];
    const half = Math.ceil(rows.length / 2);
    return [...(await statesOf(client, datastore, rows.slice(0, half), columns)), ...(await statesOf(client, datastore, rows.slice(half), columns))];
  }
}

/** The columns that any of the indexes needs, each as deep as the one that needs it deepest. */
function depthsOf(indexes: readonly PhysicalIndex[], depth: number): ColumnDepth[] {
  const depths = new Map<string, number>();
  for (const { definition } of indexes) {
    for (const [place, column] of columnsOf(definition).entries()) depths.set(column, Math.max(depths.get(column) ?? 1, place === 0 ? depth : 1));
  }
  return [...depths].map(([column, cells]) => ({ column, cells }));
}

/** The entry of a row, and a tombstone under each former value of its shard field. */
export function placeEntries(index: PhysicalIndex, state: RowState, { shards }: DatastoreTopology): PlacedEntry[] {
  const [shardField] = index.definition.fields;
  if (!shardField || state.version.added_id === 0) return [];
  const { values, former } = entriesOf(index.definition, state);
  const { row_key, version } = state;
  const place = (value: FieldValue, rowValues: readonly FieldValue[], tombstone: boolean): PlacedEntry[] =>
    value === null ? [] : [{ index, shard: shardOfValue(value, shardField.type, shards), row: { row_key, values: rowValues, tombstone, version } }];
  return [...place(values?.[0] ?? null, values ?? [], false), ...former.flatMap((value) => place(value, [value], true))];
}

/** What a write of entries could not reach. */
export interface MissedGroup {
  readonly group: string;
  readonly error: unknown;
}

/**
 * Writes entries to the shards of their shard fields, side by side, each table with one statement.
 *
 * @returns the groups that could not take theirs
 */
export async function writeEntries(context: StoreContext, datastore: string, entries: readonly PlacedEntry[]): Promise<readonly MissedGroup[]> {
  if (entries.length === 0) return [];
  const topology = await requireDatastore(context.topology, datastore);
  const tables = groupBy(entries, ({ index, shard }) => `${index.name}_${index.hash}/${shard}`);
  const missed = await Promise.all(
    [...tables.values()].map(async (ofTable): Promise<MissedGroup | undefined> => {
      const [{ index, shard }] = ofTable as [PlacedEntry];
      const { group } = placeOf(topology, shard);
      try {
        const client = await context.groups.client(group);
        await client.change(putEntries(datastore, shard, index, ofTable.map(({ row }) => row)));
        return undefined;
      } catch (error) {
        return { group, error };
      }
    }),
  );
  return missed.filter((one) => one !== undefined);
}
