import type { StoreContext } from '../access/context.ts';
import type { TopologySource, DatastoreTopology } from '../topology/topology.ts';
import { type ReadBehind, type SqlRow, type Statement, SqlError, type SqlClient } from '../sql/client.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import {
  branchesOf,
  cellsOfRow,
  selectRowsOfShard,
  toRowStates,
  type RowOfShard,
  type RowState,
} from '../sql/statements/select-row-states.ts';
import { maintainedIndexes, type PhysicalIndex } from './index-table.ts';
import {
  depthsOf,
  readRows,
  takeStates,
  type FirstRead,
  type RowRead,
  type RowsRead,
  type RowsUnread,
  type RowsWanted,
} from './read-rows.ts';
import { isGone } from '../sql/gone.ts';
import { refreshSoon } from '../topology/refresh-soon.ts';
import { insertEntries, putEntries, type IndexRow } from './statements/put-entries.ts';
import { requireDatastore, byGroup, homeOf } from '../access/groups.ts';
import { columnsOf, type RowEntries, type Version } from './entry.ts';
import { foundLong, withLengths } from './long-columns.ts';
import { readLongRow } from './long-row.ts';
import { shardOfValue } from '../definitions/field-value.ts';

/**
 * How long a write waits for its index entries. What is not done by then goes on by itself, and what fails the repair
 * makes good: an index never makes a write fail.
 */
const DEADLINE_MS = 250;

/**
 * Keeps the index entries of rows that were just written, before the write is answered.
 *
 * @param cells that were stored; indexes of other columns than theirs are left alone
 * @param after what rows of theirs were found to hold when they were stored; the others are read now
 * @param areNew none of the cells was there before: a row that has no other has no entry yet, as a rule @default false
 */
export async function keepEntries(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
  { after = [], areNew = false }: { readonly after?: readonly RowsAfter[]; readonly areNew?: boolean } = {},
): Promise<void> {
  if (cells.length === 0) return;
  const indexes = await concernedIndexes(context.topology, datastore, cells);
  if (indexes.length > 0) await withinDeadline(keepRows(context, { datastore, indexes, cells, after, areNew }));
}

/** Indexes of the columns of cells. */
export async function concernedIndexes(
  topology: TopologySource,
  datastore: string,
  cells: readonly BufferedCell[],
): Promise<readonly PhysicalIndex[]> {
  const columns = cells.map(({ column_name }) => column_name);
  return (await maintainedIndexes(topology, datastore)).filter((index) => readsAny(index, columns));
}

function readsAny({ definition }: PhysicalIndex, columns: readonly string[]): boolean {
  return columnsOf(definition).some((column) => columns.includes(column));
}

interface KeptRows {
  readonly datastore: string;
  readonly indexes: readonly PhysicalIndex[];
  readonly cells: readonly BufferedCell[];
  readonly after: readonly RowsAfter[];
  readonly areNew: boolean;
}

/** Never fails. */
async function keepRows(context: StoreContext, { datastore, indexes, cells, after, areNew }: KeptRows): Promise<void> {
  const miss = (group: string, error: unknown): void => context.report({ kind: 'index_missed', group, error });
  try {
    const rows = rowsOf(cells, indexes);
    const { entries, unread } = await wantedEntries(
      context,
      { datastore, indexes, depth: DEPTH.recent },
      rows,
      statesAfter(after, rows, indexes),
    );
    for (const { error } of unread) miss('', error);
    const missed = await writeEntries(context, datastore, entries, areNew);
    // One that is down misses many.
    for (const [group, error] of new Map(missed.map((one) => [one.group, one.error]))) miss(group, error);
  } catch (error) {
    miss('', error);
  }
}

function withinDeadline(work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DEADLINE_MS);
    void work.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Bodies that come with one append's answer at most, encoded: of rows that have longer ones, these are asked for later. */
const BODY_BYTES = 256 * 1024;

/** What rows hold right after cells of theirs were appended. */
export interface RowsAfter {
  /** Those whose columns were read. */
  readonly indexes: readonly PhysicalIndex[];
  readonly states: readonly RowState[];
}

/** What is to be read behind an append. */
interface WantedAfter {
  readonly read: ReadBehind;
  /** @param epoch at which the shard was when the cells were appended */
  toRowsAfter(rows: readonly SqlRow[], epoch: number): RowsAfter;
}

/**
 * What rows of one shard hold once cells of theirs are appended, for the indexes that the cells concern: read in the
 * round trip of the append, for which it costs little, in place of one by itself.
 */
export function wantRowsAfter(
  datastore: string,
  shard: number,
  cells: readonly BufferedCell[],
  indexes: readonly PhysicalIndex[],
): WantedAfter {
  const rows = rowsOf(cells, indexes);
  const columns = withLengths(datastore, depthsOf({ indexes, depth: DEPTH.recent }));
  const bodyBytes = Math.floor(BODY_BYTES / (rows.length * cellsOfRow(columns)));
  return {
    read: {
      kind: 'states',
      items: 1,
      branches: branchesOf(rows.length, columns),
      from: (item) => selectRowsOfShard(datastore, shard, rows, { columns, bodyBytes, item }),
    },
    toRowsAfter(read, epoch) {
      const { states, long } = toRowStates(read, rows, columns, epoch);
      foundLong(datastore, long);
      return { indexes, states };
    },
  };
}

/**
 * The rows that cells belong to, each once: those of columns that the indexes read. What is written together, or joined,
 * is of all kinds.
 */
function rowsOf(cells: readonly BufferedCell[], indexes: readonly PhysicalIndex[]): readonly RowOfShard[] {
  const rows: RowOfShard[] = [];
  const byRow = cells.length === 1 ? [cells] : Map.groupBy(cells, ({ row_key }) => row_key).values();
  for (const written of byRow) {
    const { row_key, shard } = written[0] as BufferedCell;
    const columns = written.map(({ column_name }) => column_name);
    if (indexes.some((index) => readsAny(index, columns))) rows.push({ row_key, shard, columns, written });
  }
  return rows;
}

/**
 * The states of rows that were read for all of the indexes that concern them, by row. Those of which a body was too long
 * to come along are read by themselves, which brings more at a time.
 */
function statesAfter(
  after: readonly RowsAfter[],
  rows: readonly RowOfShard[],
  indexes: readonly PhysicalIndex[],
): ReadonlyMap<string, RowState> {
  const read = new Map<string, { readonly state: RowState; readonly indexes: readonly PhysicalIndex[] }>();
  for (const { indexes: ofAppend, states } of after)
    for (const state of states) if (isWhole(state)) read.set(state.row.row_key, { state, indexes: ofAppend });
  const known = new Map<string, RowState>();
  for (const { row_key, columns = [] } of rows) {
    const found = read.get(row_key);
    if (found && indexes.every((index) => found.indexes.includes(index) || !readsAny(index, columns)))
      known.set(row_key, found.state);
  }
  return known;
}

function isWhole({ cells }: RowState): boolean {
  return cells.values().every((ofColumn) => ofColumn.every(({ body }) => body !== 'left_out'));
}

/** How many cells of the shard field's column are looked at for former values. */
export const DEPTH = {
  /** The write path: the latest cell and the one before it. What an earlier writer missed, the repair makes good. */
  recent: 2,
  /** The repair: every value that an entry may ever have been under. */
  all: 10_000,
} as const;

/** A row of an index table and the shard that it belongs to. */
export interface EntryOfShard {
  readonly index: PhysicalIndex;
  readonly shard: number;
  readonly row: IndexRow;
  /** None can have been there before what was just written. @default it is not known */
  readonly isFirst?: boolean | undefined;
}

/** A field that a row's latest cell has, but of another type than the index says: it counts as null there. */
export interface MistypedField {
  readonly index: PhysicalIndex;
  readonly position: number;
  readonly row_key: string;
}

/** What the indexes should hold of some rows. */
export interface Wanted {
  readonly entries: readonly EntryOfShard[];
  readonly mistyped: readonly MistypedField[];
  readonly unread: readonly RowsUnread[];
}

interface WantedPart extends Wanted {
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
export async function* wantedInParts(
  context: StoreContext,
  datastore: string,
  indexes: readonly PhysicalIndex[],
  rows: readonly RowOfShard[],
  depth: number,
): AsyncGenerator<WantedPart> {
  if (indexes.length === 0 || rows.length === 0) return;
  const topology = await requireDatastore(context.topology, datastore);
  const rowsWanted: RowsWanted = { datastore, indexes, depth };
  for (const [group, ofGroup] of byGroup(topology, rows)) {
    const client = await context.groups.client(group);
    const { long, ...first } = await readRows(client, ofGroup, rowsWanted);
    yield { ...wantedOf(first, indexes, topology), more: long.length > 0 };
    for (const [position, one] of long.entries())
      yield {
        ...wantedOf(await readLongRow(client, one, rowsWanted), indexes, topology),
        more: position < long.length - 1,
      };
  }
}

/**
 * The same for few rows, or a small depth: all of it, groups side by side.
 *
 * @param known states of some of the rows, that were read just now of the columns that the indexes need, or more
 */
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
      : together(await Promise.all(groups.map((one) => readAll(context, one, wanted, known))));
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
    // Read for all whose appends were joined: this row is what one of them wrote of it.
    if (state) states.push({ ...state, row });
    else asked.push(row);
  }
  const parts: FirstRead[] = [];
  if (states.length > 0) parts.push(await takeStates({ states, unread: [] }, wanted));
  if (asked.length > 0) parts.push(await readRows(client, asked, wanted));
  const [first] = parts;
  if (first && parts.length === 1 && first.long.length === 0) return first;
  const all: RowsRead[] = [...parts];
  for (const one of parts.flatMap(({ long }) => long)) all.push(await readLongRow(client, one, wanted));
  return together(all);
}

function together(parts: readonly RowsRead[]): RowsRead {
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

/** Adds the entry of a row, and a tombstone under each former value of its shard field. */
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

/** Once more where nobody knows how the first time ended: to write an entry twice does nothing. */
async function changeSurely(client: SqlClient, statement: Statement): Promise<void> {
  try {
    await client.change(statement);
  } catch (error) {
    if (!isUnclear(error)) throw error;
    await client.change(statement);
  }
}

function isUnclear(error: unknown): boolean {
  return error instanceof SqlError && error.failure === 'unclear' && !error.timedOut;
}

/**
 * Writes entries of one table. The first ones of rows are only inserted where they share a commit, which is where a
 * shorter statement tells; what is there all the same is of a log that was cut since, or was written by the repair
 * meanwhile.
 *
 * @param areNew the cells of their rows were not there before
 */
async function putOrInsert(
  client: SqlClient,
  datastore: string,
  ofTable: readonly EntryOfShard[],
  areNew: boolean,
): Promise<void> {
  const { index, shard } = ofTable[0] as EntryOfShard;
  const rows = ofTable.map(({ row }) => row);
  if (areNew && client.abilities.sharesCommits === true && ofTable.every(({ isFirst }) => isFirst === true)) {
    try {
      return void (await client.change(insertEntries(datastore, shard, index, rows)));
    } catch (error) {
      if (!isUnclear(error) && !(error instanceof SqlError && error.failure === 'duplicate')) throw error;
    }
  }
  await changeSurely(client, putEntries(datastore, shard, index, rows));
}

export interface MissedEntries {
  readonly group: string;
  readonly entries: readonly EntryOfShard[];
  readonly error: unknown;
}

/**
 * Writes entries to the shards of their shard fields, side by side, each table with one statement; of a shard that is
 * being moved, to its copy, too. What a copy misses is found when it becomes the shard.
 *
 * @param areNew the cells of their rows were not there before @default false: or it is not known
 * @returns what could not be written, by table
 */
export async function writeEntries(
  context: StoreContext,
  datastore: string,
  entries: readonly EntryOfShard[],
  areNew = false,
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
      const { group, copy } = homeOf(topology, ofTable[0]?.shard ?? -1);
      try {
        const writing = putOrInsert(await context.groups.client(group), datastore, ofTable, areNew);
        await (copy?.takesEntries === true ? Promise.all([writing, writeToCopy(ofTable, copy.group)]) : writing);
      } catch (error) {
        // What is wanted of a shard that has just moved is asked of where it is, when it is made good.
        if (isGone(error)) refreshSoon(context.topology);
        missed.push({ group, entries: ofTable, error });
      }
    }),
  );
  return missed;

  async function writeToCopy(ofTable: readonly EntryOfShard[], group: string): Promise<void> {
    const { index, shard } = ofTable[0] as EntryOfShard;
    const rows = ofTable.map(({ row }) => row);
    try {
      await changeSurely(await context.groups.client(group), putEntries(datastore, shard, index, rows, 'copy'));
    } catch (error) {
      if (isGone(error)) refreshSoon(context.topology);
    }
  }
}
