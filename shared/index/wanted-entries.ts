import { byGroup, requireDatastore } from '../access/groups.ts';
import type { StoreContext } from '../access/context.ts';
import { shardOfValue } from '../definitions/field-value.ts';
import type { RowOfShard, RowState } from '../sql/statements/select-row-states.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { columnsOf, type RowEntries, type Version } from './entry.ts';
import type { PhysicalIndex } from './index-table.ts';
import { readLongRow } from './long-row.ts';
import {
  readRows,
  takeStates,
  type FirstRead,
  type RowRead,
  type RowsRead,
  type RowsUnread,
  type RowsWanted,
} from './read-rows.ts';
import type { IndexRow } from './statements/put-entries.ts';

export const DEPTH = {
  /** The write path: the latest cell and the one before. The repair corrects older ones. */
  recent: 2,
  /** The repair: every value that an entry may have been under. */
  all: 10_000,
} as const;

export interface EntryOfShard {
  readonly index: PhysicalIndex;
  readonly shard: number;
  readonly row: IndexRow;
  /** No entry can have been there before the write. */
  readonly isFirst?: boolean | undefined;
}

/** A field of another type than the index says; it counts as null. */
export interface MistypedField {
  readonly index: PhysicalIndex;
  readonly position: number;
  readonly row_key: string;
}

export interface Wanted {
  readonly entries: readonly EntryOfShard[];
  readonly mistyped: readonly MistypedField[];
  readonly unread: readonly RowsUnread[];
}

interface WantedPart extends Wanted {
  /** Parts of long rows are still to come, which may take time. */
  readonly more: boolean;
}

/**
 * Computes what indexes should hold of rows, read **now** from the writers: never from a body in hand, so that the last
 * writer has seen the most. Yields parts of one group each, with only a part in memory. Throws SqlError when a group
 * cannot be asked; its refusals make rows `unread`.
 */
export async function* wantedInParts(
  context: StoreContext,
  wanted: RowsWanted,
  rows: readonly RowOfShard[],
): AsyncGenerator<WantedPart> {
  const { datastore, indexes } = wanted;
  if (indexes.length === 0 || rows.length === 0) return;
  const topology = await requireDatastore(context.topology, datastore);
  for (const [group, ofGroup] of byGroup(topology, rows)) {
    const client = await context.groups.client(group);
    const { long, ...first } = await readRows({ client, longColumns: context.found.longColumns }, ofGroup, wanted);
    yield { ...wantedOf(first, indexes, topology), more: long.length > 0 };
    for (const [position, one] of long.entries())
      yield {
        ...wantedOf(await readLongRow(client, one, wanted), indexes, topology),
        more: position < long.length - 1,
      };
  }
}

/** Computes the same at once, groups side by side; `known` are states of some rows, read just now. */
export async function wantedEntries(
  context: StoreContext,
  wanted: RowsWanted,
  rows: readonly RowOfShard[],
  known: ReadonlyMap<string, RowState> = NONE,
): Promise<Wanted> {
  if (wanted.indexes.length === 0 || rows.length === 0) return { entries: [], mistyped: [], unread: [] };
  const topology = await requireDatastore(context.topology, wanted.datastore);
  const groups = [...byGroup(topology, rows)];
  const [only] = groups;
  const read =
    only && groups.length === 1
      ? await readAll(context, only, wanted, known)
      : batched(await Promise.all(groups.map((one) => readAll(context, one, wanted, known))));
  return wantedOf(read, wanted.indexes, topology);
}

const NONE: ReadonlyMap<string, RowState> = new Map();

async function readAll(
  context: StoreContext,
  [group, rows]: readonly [string, readonly RowOfShard[]],
  wanted: RowsWanted,
  known: ReadonlyMap<string, RowState>,
): Promise<RowsRead> {
  const client = await context.groups.client(group);
  const [states, asked]: [RowState[], RowOfShard[]] = [[], []];
  for (const row of rows) {
    const state = known.get(row.row_key);
    // The state was read for the whole group commit; this row is what one of its appends wrote.
    if (state) states.push({ ...state, row });
    else asked.push(row);
  }
  const parts: FirstRead[] = [];
  if (states.length > 0) parts.push(await takeStates({ states, unread: [] }, wanted));
  if (asked.length > 0) parts.push(await readRows({ client, longColumns: context.found.longColumns }, asked, wanted));
  const [first] = parts;
  if (first && parts.length === 1 && first.long.length === 0) return first;
  const all: RowsRead[] = [...parts];
  for (const one of parts.flatMap(({ long }) => long)) all.push(await readLongRow(client, one, wanted));
  return batched(all);
}

function batched(parts: readonly RowsRead[]): RowsRead {
  return { read: parts.flatMap(({ read }) => read), unread: parts.flatMap(({ unread }) => unread) };
}

function wantedOf({ read, unread }: RowsRead, indexes: readonly PhysicalIndex[], topology: DatastoreTopology): Wanted {
  const entries: EntryOfShard[] = [];
  const mistyped: MistypedField[] = [];
  for (const one of read) {
    const { columns, row_key } = one.row;
    for (let position = 0; position < indexes.length; position += 1) {
      const index = indexes[position] as PhysicalIndex;
      if (columns && !readsAny(index, columns)) continue;
      addEntries(entries, index, one, position, topology);
      for (const field of (one.entries[position] as RowEntries).mistyped)
        mistyped.push({ index, position: field, row_key });
    }
  }
  return { entries, mistyped, unread };
}

function addEntries(
  entries: EntryOfShard[],
  index: PhysicalIndex,
  { row: { row_key }, versions, entries: ofRow, areFirst }: RowRead,
  position: number,
  { shards }: DatastoreTopology,
): void {
  const type = index.definition.fields[0]?.type;
  const version = versions[position] as Version;
  if (!type || version.added_id === 0) return;
  const { values, former } = ofRow[position] as RowEntries;
  const current = values?.[0] ?? null;
  if (values && current !== null)
    entries.push({
      index,
      shard: shardOfValue(current, type, shards),
      row: { row_key, values, tombstone: false, version },
      isFirst: areFirst?.[position],
    });
  for (const value of former)
    entries.push({
      index,
      shard: shardOfValue(value, type, shards),
      row: { row_key, values: [value], tombstone: true, version },
    });
}

export function readsAny({ definition }: PhysicalIndex, columns: readonly string[]): boolean {
  return columnsOf(definition).some((column) => columns.includes(column));
}
