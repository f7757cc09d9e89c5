import { byGroup, groupBy, placeOf, type StoreContext } from '../store/context.ts';
import type { RowOfShard } from '../sql/statements/select-row-states.ts';
import { putEntries, type IndexRow } from '../sql/statements/put-entries.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { RowEntries } from './entry.ts';
import { shardOfValue, type FieldValue } from './field-value.ts';
import type { PhysicalIndex } from './index-table.ts';
import { readRows, type RowRead, type RowsUnread, type RowsWanted } from './read-rows.ts';

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

/** A field that a row's latest cell has, but of another type than the index says: it counts as null there. */
export interface MistypedField {
  readonly index: PhysicalIndex;
  /** Of the field in the definition. */
  readonly place: number;
  readonly row_key: string;
}

/** What the indexes should hold of some rows. */
export interface Wanted {
  readonly entries: readonly PlacedEntry[];
  readonly mistyped: readonly MistypedField[];
  /** Rows of which it is not known. */
  readonly unread: readonly RowsUnread[];
}

export interface WantedPart extends Wanted {
  /** Parts of rows of many or long cells are still to come, which may take their time. */
  readonly more: boolean;
}

/**
 * What the indexes should hold of some rows, read **now** from the writers of the rows' groups: never from a body in
 * hand, so that whoever comes last has seen the most. In parts, each of rows of one group: many, or one that has many
 * cells. However many cells the rows have, no more than a part is in memory.
 *
 * @param depth cells of the shard field's column to look for former values
 * @throws SqlError when a group cannot be asked; what it refuses makes the rows concerned `unread`
 */
export async function* wantedInParts(context: StoreContext, datastore: string, indexes: readonly PhysicalIndex[], rows: readonly RowOfShard[], depth: number): AsyncGenerator<WantedPart> {
  if (indexes.length === 0 || rows.length === 0) return;
  const topology = await requireDatastore(context.topology, datastore);
  for (const [group, ofGroup] of byGroup(topology, rows)) yield* wantedOfGroup(context, topology, group, ofGroup, { datastore, indexes, depth });
}

/** The same for few rows, or a small depth: all of it, groups side by side. */
export async function wantedEntries(context: StoreContext, datastore: string, indexes: readonly PhysicalIndex[], rows: readonly RowOfShard[], depth: number): Promise<Wanted> {
  if (indexes.length === 0 || rows.length === 0) return { entries: [], mistyped: [], unread: [] };
  const topology = await requireDatastore(context.topology, datastore);
  const all: { entries: PlacedEntry[]; mistyped: MistypedField[]; unread: RowsUnread[] } = { entries: [], mistyped: [], unread: [] };
  await Promise.all(
    [...byGroup(topology, rows)].map(async ([group, ofGroup]) => {
      for await (const { entries, mistyped, unread } of wantedOfGroup(context, topology, group, ofGroup, { datastore, indexes, depth })) {
        all.entries.push(...entries);
        all.mistyped.push(...mistyped);
        all.unread.push(...unread);
      }
    }),
  );
  return all;
}

async function* wantedOfGroup(context: StoreContext, topology: DatastoreTopology, group: string, rows: readonly RowOfShard[], wanted: RowsWanted): AsyncGenerator<WantedPart> {
  const client = await context.groups.client(group);
  for await (const { read, unread, more } of readRows(client, rows, wanted)) {
    const entries: PlacedEntry[] = [];
    const mistyped: MistypedField[] = [];
    for (const row of read) {
      for (const [place, index] of wanted.indexes.entries()) {
        const ofIndex = row.entries[place];
        if (!ofIndex) continue;
        for (const entry of placeEntries(index, row, ofIndex, topology)) entries.push(entry);
        for (const field of ofIndex.mistyped) mistyped.push({ index, place: field, row_key: row.row.row_key });
      }
    }
    yield { entries, mistyped, unread, more };
  }
}

/** The entry of a row, and a tombstone under each former value of its shard field. */
function placeEntries(index: PhysicalIndex, { row: { row_key }, version }: RowRead, { values, former }: RowEntries, { shards }: DatastoreTopology): PlacedEntry[] {
  const [shardField] = index.definition.fields;
  if (!shardField || version.added_id === 0) return [];
  const place = (value: FieldValue, rowValues: readonly FieldValue[], tombstone: boolean): PlacedEntry[] =>
    value === null ? [] : [{ index, shard: shardOfValue(value, shardField.type, shards), row: { row_key, values: rowValues, tombstone, version } }];
  return [...place(values?.[0] ?? null, values ?? [], false), ...former.flatMap((value) => place(value, [value], true))];
}

/** Entries that were not written. */
export interface MissedEntries {
  readonly group: string;
  readonly entries: readonly PlacedEntry[];
  readonly error: unknown;
}

/**
 * Writes entries to the shards of their shard fields, side by side, each table with one statement.
 *
 * @returns what could not be written, by table
 */
export async function writeEntries(context: StoreContext, datastore: string, entries: readonly PlacedEntry[]): Promise<readonly MissedEntries[]> {
  if (entries.length === 0) return [];
  const topology = await requireDatastore(context.topology, datastore);
  const tables = groupBy(entries, ({ index, shard }) => `${index.name}_${index.hash}/${shard}`);
  const missed = await Promise.all(
    [...tables.values()].map(async (ofTable): Promise<MissedEntries | undefined> => {
      const [{ index, shard }] = ofTable as [PlacedEntry];
      const { group } = placeOf(topology, shard);
      try {
        const client = await context.groups.client(group);
        await client.change(putEntries(datastore, shard, index, ofTable.map(({ row }) => row)));
        return undefined;
      } catch (error) {
        return { group, entries: ofTable, error };
      }
    }),
  );
  return missed.filter((one) => one !== undefined);
}
