import { homeOf, requireDatastore } from '../access/groups.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import { keyOfValue, readField, shardOfValue, type FieldValue } from '../definitions/field-value.ts';
import type { IndexField } from '../definitions/definitions.ts';
import { covers, type ErasureTarget } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import type { Version } from '../index/entry.ts';
import { indexTableName, maintainedIndexes, type PhysicalIndex } from '../index/index-table.ts';
import { DEPTH, wantedEntries, type EntryOfShard } from '../index/wanted-entries.ts';
import { writeEntries, type MissedEntries } from '../index/write-entries.ts';
import { allLong } from '../sql/long-columns.ts';
import { depthsOf } from '../index/read-rows.ts';
import { selectEntriesOfRow, toEntryValue } from '../index/statements/select-entries-of-row.ts';
import { byItem } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import {
  cellsOfRow,
  selectRowStates,
  toRowStates,
  type CellOfRow,
  type RowState,
} from '../sql/statements/select-row-states.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import type { BodyToErase } from '../sql/statements/select-bodies.ts';
import { unionOf } from '../sql/union.ts';
import type { EntryPlace } from './entry-places.ts';

/** An erasure in the indexes of one datastore. */
interface Forgetting {
  readonly context: StoreContext;
  readonly datastore: string;
  readonly target: ErasureTarget;
  readonly shard: number;
}

/** Entries that could not be written, and why. */
export class EntriesMissed extends Error {
  constructor([missed]: readonly MissedEntries[]) {
    super(`those on ${missed?.group || 'a group'} could not be written`, { cause: missed?.error });
  }
}

/** Operations on a row's entries, before and after its bodies go. They use the writer of its shard. */
export type EntriesOfRow = ReturnType<typeof entriesOfRow>;

/** The timeout of a scan of an index table: tens of millions of entries. */
const SCAN_MS = 20_000;

/** The most bytes of a row's latest bodies that one statement returns. */
const STATE_BYTES = 1024 * 1024;

/**
 * Puts tombstones in the place of a row's entries. They hold only the value of the shard field, and are purged once no
 * late write can come. Leaves the entry that the row keeps until its new content is known.
 *
 * Each has the version of the shard's next cell, and so wins over all entries computed before, whatever cells the row
 * gets in between.
 */
export function entriesOfRow(forgetting: Forgetting) {
  const { context, datastore, target, shard } = forgetting;
  const { row_key } = target;

  async function write(entries: readonly EntryOfShard[]): Promise<void> {
    const missed = await writeEntries(context, datastore, entries);
    if (missed.length > 0) throw new EntriesMissed(missed);
  }

  /** Puts tombstones, except under the values that the row keeps. */
  async function putTombstones(writer: SqlClient, found: readonly ValuesOfIndex[]): Promise<readonly EntryPlace[]> {
    if (found.every(({ values }) => values.size === 0)) return [];
    const { shards } = await requireDatastore(context.topology, datastore);
    const version = await nextVersion(writer, forgetting);
    const kept = await keptValues(
      writer,
      forgetting,
      found.map(({ index }) => index),
    );
    const entries = found.flatMap((one, position) => tombstonesOf(one, kept[position], { row_key, version, shards }));
    await write(entries);
    const places = entries.map(({ index, shard }) => ({ table: indexTableName(index.name, index.hash), shard }));
    return [...new Map(places.map((place) => [`${place.table} ${place.shard}`, place])).values()];
  }

  return {
    /**
     * Removes the entries of a page of bodies, and keeps out those that readers of the bodies may still write. Call it
     * before the bodies go, since only they tell where entries are, and again after, since readers may have written in
     * between. Returns the places. Throws EntriesMissed if some could not be removed: the bodies must stay then.
     */
    async removeEntries(writer: SqlClient, page: readonly BodyToErase[]): Promise<readonly EntryPlace[]> {
      const indexes = await maintainedIndexes(context.topology, datastore);
      return putTombstones(
        writer,
        indexes.map((index) => ({ index, values: valuesOf(index.definition.fields[0], page) })),
      );
    },
    /** Removes all entries at a place, for bodies that are gone. Throws as `removeEntries`. */
    async removeAllEntries(writer: SqlClient, { table, shard: at }: EntryPlace): Promise<void> {
      const indexes = await maintainedIndexes(context.topology, datastore);
      const index = indexes.find(({ name, hash }) => indexTableName(name, hash) === table);
      // It is retired: no query uses it, and its tables will be dropped.
      if (!index) return;
      const { group } = homeOf(await requireDatastore(context.topology, datastore), at);
      const client = await context.groups.client(group);
      const statement = selectEntriesOfRow(datastore, at, index, row_key);
      const rows = await client.select({ ...statement, isolated: true, withinMs: SCAN_MS }, 'writer');
      const values = rows.flatMap((row): readonly (readonly [string, Exclude<FieldValue, null>])[] => {
        const value = toEntryValue(row, index);
        return value === null ? [] : [[keyOfValue(value), value]];
      });
      await putTombstones(writer, [{ index, values: new Map(values) }]);
    },
    /** Writes the row's entries without the erased bodies. Throws `EntriesMissed`. */
    async bringBack(writer: SqlClient): Promise<void> {
      const indexes = await maintainedIndexes(context.topology, datastore);
      if (indexes.length === 0) return;
      const version = await nextVersion(writer, forgetting);
      const known = await stateWithout(writer, forgetting, indexes);
      const wanted = { datastore, indexes, depth: DEPTH.recent };
      const { entries, unread } = await wantedEntries(context, wanted, [{ row_key, shard }], known);
      if (unread[0]) throw new EntriesMissed([{ group: '', entries: [], error: unread[0].error }]);
      await write(entries.map((entry): EntryOfShard => ({ ...entry, row: { ...entry.row, version } })));
    },
  };
}

/** Values of the shard field of an index, by key. */
interface ValuesOfIndex {
  readonly index: PhysicalIndex;
  readonly values: ReadonlyMap<string, Exclude<FieldValue, null>>;
}

/**
 * Returns a version above all entries of the row. Call it before reading the row: a cell appended in between is unknown
 * to that read, and its own entry must win.
 */
async function nextVersion(writer: SqlClient, { datastore, shard }: Forgetting): Promise<Version> {
  const [heads, rows] = await Promise.all([
    writer.select(selectHeads(datastore, [shard]), 'writer'),
    writer.select(selectShard(datastore, shard), 'writer'),
  ]);
  const row = toShardRow(rows);
  if (!row) throw new SchemalessError('unavailable', 'the shard has just moved');
  return { epoch: row.epoch, added_id: (toHeads(heads).get(shard) ?? 0) + 1 };
}

/** Returns a tombstone for each value but the one that the row keeps. */
function tombstonesOf(
  { index, values }: ValuesOfIndex,
  kept: string | undefined,
  { row_key, version, shards }: { readonly row_key: string; readonly version: Version; readonly shards: number },
): readonly EntryOfShard[] {
  const type = index.definition.fields[0]?.type;
  if (!type) return [];
  return [...values].flatMap(([key, value]): readonly EntryOfShard[] =>
    key === kept
      ? []
      : [
          {
            index,
            shard: shardOfValue(value, type, shards),
            row: { row_key, values: [value], tombstone: true, version },
          },
        ],
  );
}

/** Returns the values of bodies in a field, by key. */
function valuesOf(field: IndexField | undefined, page: readonly BodyToErase[]): ValuesOfIndex['values'] {
  const values = new Map<string, Exclude<FieldValue, null>>();
  if (field)
    for (const { column_name, body } of page) {
      if (column_name !== field.column_key) continue;
      const value = valueIn(body, field);
      if (value !== null) values.set(keyOfValue(value), value);
    }
  return values;
}

/** Returns the shard field's value that the row keeps in each index: that of a latest cell that is not erased. */
async function keptValues(
  writer: SqlClient,
  { datastore, target, shard }: Forgetting,
  indexes: readonly PhysicalIndex[],
): Promise<readonly (string | undefined)[]> {
  const keys = indexes.map(({ definition: { fields } }) => ({
    shard,
    key: { row_key: target.row_key, column_name: fields[0]?.column_key ?? '' },
  }));
  const rows = await writer.select(selectCells({ datastore }, keys, false), 'writer');
  return byItem(rows, keys.length).map(({ cells: [latest] }, position) => {
    const field = indexes[position]?.definition.fields[0];
    if (!latest || latest.body === null || !field || covers(target, latest)) return undefined;
    const value = valueIn(latest.body, field);
    return value === null ? undefined : keyOfValue(value);
  });
}

/**
 * Returns the row's state without the erased cells, even if the snapshot still shows them. Returns none if remaining
 * bodies are too long for the statement; they are read one by one then.
 */
async function stateWithout(
  writer: SqlClient,
  { datastore, target, shard }: Forgetting,
  indexes: readonly PhysicalIndex[],
): Promise<ReadonlyMap<string, RowState>> {
  const rows = [{ row_key: target.row_key, shard }];
  const columns = allLong(depthsOf({ indexes, depth: DEPTH.recent }));
  const bytes = Math.floor(STATE_BYTES / cellsOfRow(columns));
  const found = await writer.select(unionOf(selectRowStates(datastore, rows, columns, bytes)), 'writer');
  const [state] = toRowStates(found, rows, columns).states;
  if (!state) return new Map();
  const without = (column_name: string, cell: CellOfRow): CellOfRow =>
    covers(target, { row_key: target.row_key, column_name, ref_key: cell.ref_key }) ? { ...cell, body: null } : cell;
  const cells = new Map(
    [...state.cells].map(([column, ofColumn]) => [column, ofColumn.map((cell) => without(column, cell))]),
  );
  const isWhole = [...cells.values()].every((ofColumn) => ofColumn.every(({ body }) => body !== 'left_out'));
  return isWhole ? new Map([[target.row_key, { ...state, cells }]]) : new Map();
}

/** Reads a field of a body; returns null if the body is damaged, since it has no entries. */
function valueIn(body: Uint8Array, { field, type, sealed }: IndexField): FieldValue {
  let json: Json;
  try {
    json = decodeBody(body);
  } catch {
    return null;
  }
  return readField(json, field, type, sealed) ?? null;
}
