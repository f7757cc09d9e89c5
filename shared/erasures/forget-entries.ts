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
import { allLong } from '../index/long-columns.ts';
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

/** What is forgotten in the indexes of one datastore. */
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

/** The entries of a row, before and after its bodies go. Asked of the writer of its shard. */
export interface EntriesOfRow {
  /**
   * Where bodies of a page say that entries are, or may be written yet by who has read them: once before they go, since
   * nothing else says where that is, and once after, since whoever read them until then may have written meanwhile.
   * Returns where they are. Throws EntriesMissed where not all could be taken away: the bodies have to stay then.
   */
  takeAway(writer: SqlClient, page: readonly BodyToErase[]): Promise<readonly EntryPlace[]>;
  /** All that is at a place, of bodies that are gone. Throws as `takeAway`. */
  takeAllAway(writer: SqlClient, place: EntryPlace): Promise<void>;
  /** What the row's entries are without them. Throws `EntriesMissed`. */
  bringBack(writer: SqlClient): Promise<void>;
}

/** Reading a table of an index from end to end: tens of millions of entries. */
const SCAN_MS = 20_000;

/** Bodies of the latest cells of a row that come with one statement. */
const STATE_BYTES = 1024 * 1024;

/**
 * Puts tombstones where entries of a row are: they say nothing but the value of the shard field, and are purged when
 * nobody is left who could write there. The entry that the row keeps is not touched before it is known how it looks then.
 *
 * Each has the version of the next cell of the shard: whatever was computed before it loses, whichever cell of the row
 * was written meanwhile.
 */
export function entriesOfRow(forgetting: Forgetting): EntriesOfRow {
  const { context, datastore, target, shard } = forgetting;
  const { row_key } = target;

  async function write(entries: readonly EntryOfShard[]): Promise<void> {
    const missed = await writeEntries(context, datastore, entries);
    if (missed.length > 0) throw new EntriesMissed(missed);
  }

  /** But under the values that the row keeps. */
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
    async takeAway(writer, page) {
      const indexes = await maintainedIndexes(context.topology, datastore);
      return putTombstones(
        writer,
        indexes.map((index) => ({ index, values: valuesOf(index.definition.fields[0], page) })),
      );
    },
    async takeAllAway(writer, { table, shard: at }) {
      const indexes = await maintainedIndexes(context.topology, datastore);
      const index = indexes.find(({ name, hash }) => indexTableName(name, hash) === table);
      // It is kept no more: nobody asks it, and it goes with all that it has.
      if (!index) return;
      const { group } = homeOf(await requireDatastore(context.topology, datastore), at);
      const client = await context.groups.client(group);
      const statement = selectEntriesOfRow(datastore, at, index, row_key);
      const rows = await client.select({ ...statement, apart: true, withinMs: SCAN_MS }, 'writer');
      const values = rows.flatMap((row): readonly (readonly [string, Exclude<FieldValue, null>])[] => {
        const value = toEntryValue(row, index);
        return value === null ? [] : [[keyOfValue(value), value]];
      });
      await putTombstones(writer, [{ index, values: new Map(values) }]);
    },
    async bringBack(writer) {
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

/** By their keys, values of the shard field of an index. */
interface ValuesOfIndex {
  readonly index: PhysicalIndex;
  readonly values: ReadonlyMap<string, Exclude<FieldValue, null>>;
}

/**
 * Over all that there is of the row. Taken before the row is read: of a cell that is appended in between, who has read
 * before knows nothing, and its own entry is to win.
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

/** One under each value but the one that the row keeps. */
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

/** By their keys, the values that bodies have in a field. */
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

/** Of each index, the shard field's value that the row keeps: where the latest cell of its column is not erased. */
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
 * What the row holds without what is erased, whatever a snapshot shows of that still; none where bodies that it keeps are
 * too long to come along, which are read one by one then.
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

/** Null of a body that was damaged: no entry can have come of it. */
function valueIn(body: Uint8Array, { field, type, sealed }: IndexField): FieldValue {
  let json: Json;
  try {
    json = decodeBody(body);
  } catch {
    return null;
  }
  return readField(json, field, type, sealed) ?? null;
}
