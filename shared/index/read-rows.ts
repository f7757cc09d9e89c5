import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import type { IndexField } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectDivided } from '../sql/select-divided.ts';
import {
  cellsOfRow,
  selectRowStates,
  toRowStates,
  type CellOfRow,
  type ColumnDepth,
  type RowOfShard,
  type RowState,
} from '../sql/statements/select-row-states.ts';
import { pageBytes } from '../access/ask-parts.ts';
import {
  columnsOf,
  gatherEntries,
  takeEarlier,
  takeLatest,
  toEntries,
  type GatheredEntries,
  type RowEntries,
  type Version,
} from './entry.ts';
import type { PhysicalIndex } from './index-table.ts';
import { allLong, type LongColumns } from '../sql/long-columns.ts';

/** A row, and what each index should hold of it, in the indexes' order. */
export interface RowRead {
  readonly row: RowOfShard;
  readonly versions: readonly Version[];
  readonly entries: readonly RowEntries[];
  readonly areFirst?: readonly boolean[];
}

/** Rows that could not be read, because of a damaged table, say. */
export interface RowsUnread {
  readonly rows: readonly RowOfShard[];
  readonly error: unknown;
}

export interface RowsRead {
  readonly read: readonly RowRead[];
  readonly unread: readonly RowsUnread[];
}

export interface FirstRead extends RowsRead {
  readonly long: readonly LongRow[];
}

/** A row of which some cells did not come with the statement. */
export interface LongRow {
  readonly row: RowOfShard;
  readonly versions: readonly Version[];
  readonly gathered: readonly GatheredEntries[];
  readonly rests: readonly RestOfColumn[];
}

export interface RestOfColumn {
  readonly column: string;
  /** The latest cell, if it was too long to come. */
  readonly latest: CellOfRow | undefined;
  readonly after: number;
  readonly cells: number;
}

export interface RowsWanted {
  readonly datastore: string;
  readonly indexes: readonly PhysicalIndex[];
  readonly depth: number;
}

interface RowsReader {
  readonly client: SqlClient;
  readonly longColumns: LongColumns;
}

/** Cells of a column in the first statement, which many rows share; few rows have more. */
const FIRST_CELLS = 8;
/** Encoded bytes that a statement may bring: three times a request's 4 MiB. */
const STATEMENT_BYTES = 16 * 1024 * 1024;
/** Time of decoding before other work has its turn: about that of the largest body. */
const TURN_MS = 20;

/**
 * Reads rows of one group **now**, from its writer, for their index entries. Memory is bounded: a statement returns a
 * bounded number of bytes, and bodies are decoded one at a time. Only their fields stay: 400 bytes may be 13 MB of
 * objects. Throws SqlError when the group cannot be asked; a refusal costs its rows alone.
 */
export async function readRows(
  { client, longColumns }: RowsReader,
  rows: readonly RowOfShard[],
  wanted: RowsWanted,
): Promise<FirstRead> {
  const columns = depthsOf(wanted).map(({ column, cells }) => ({ column, cells: Math.min(cells, FIRST_CELLS) }));
  const marked = longColumns.mark(wanted.datastore, columns);
  return takeStates(await readStates({ client, longColumns }, wanted.datastore, rows, marked), wanted);
}

export async function takeStates(
  { states, unread: refused }: StatesRead,
  wanted: Pick<RowsWanted, 'indexes' | 'depth'>,
): Promise<FirstRead> {
  const { indexes } = wanted;
  const columns = depthsOf(wanted);
  const unread = [...refused];
  const read: RowRead[] = [];
  const long: LongRow[] = [];
  const takesTurns = states.length > 1 ? turns() : undefined;
  for (const state of states) {
    const { row } = state;
    if (state.epoch === 0) {
      unread.push({
        rows: [row],
        error: new SchemalessError('unavailable', `row ${row.row_key} was looked for where its shard is not`),
      });
      continue;
    }
    const turn = takesTurns?.();
    if (turn) await turn;
    const gathered = indexes.map(({ definition }) => gatherEntries(definition));
    const rests: RestOfColumn[] = [];
    for (const { column, cells } of columns) {
      const rest = takeFirst(gathered, indexes, column, cells, state);
      if (rest) rests.push(rest);
    }
    const versions = indexes.map((index) => versionOf(state, index));
    if (rests.length === 0) {
      const areFirst = indexes.map((index) => isFirst(state, index));
      read.push({ row, versions, entries: gathered.map(toEntries), areFirst });
    } else long.push({ row, versions, gathered, rests });
  }
  return { read, unread, long };
}

/** Counts only the columns that the index reads: another column's cell changes no entry. */
function versionOf({ epoch, cells }: RowState, { definition }: PhysicalIndex): Version {
  let highest = 0;
  for (const column of columnsOf(definition))
    for (const { added_id } of cells.get(column) ?? []) if (added_id > highest) highest = added_id;
  return { epoch, added_id: highest };
}

/** Whether the shard field's column has one cell, just written: the row had no entry before. */
function isFirst({ row, cells }: RowState, { definition }: PhysicalIndex): boolean {
  const [column = ''] = columnsOf(definition);
  const [only, ...others] = cells.get(column) ?? [];
  return (
    only !== undefined &&
    others.length === 0 &&
    row.written?.some(({ column_name, ref_key }) => column_name === column && ref_key === only.ref_key) === true
  );
}

export function depthsOf({ indexes, depth }: Pick<RowsWanted, 'indexes' | 'depth'>): readonly ColumnDepth[] {
  const depths: { column: string; cells: number }[] = [];
  for (const {
    definition: { fields },
  } of indexes) {
    for (let position = 0; position < fields.length; position += 1) {
      const column = (fields[position] as IndexField).column_key;
      const cells = position === 0 ? depth : 1;
      const known = depths.find((one) => one.column === column);
      if (!known) depths.push({ column, cells });
      else if (known.cells < cells) known.cells = cells;
    }
  }
  return depths;
}

interface StatesRead {
  readonly states: readonly RowState[];
  readonly unread: readonly RowsUnread[];
}

/** Reads states. Rows of a shard whose result is too large are halved; rows that were cut are read again. */
async function readStates(
  reader: RowsReader,
  datastore: string,
  rows: readonly RowOfShard[],
  columns: readonly ColumnDepth[],
): Promise<StatesRead> {
  const { client, longColumns } = reader;
  const bytes = rows.length === 1 ? pageBytes(client) : STATEMENT_BYTES;
  const bodyBytes = Math.floor(bytes / (rows.length * cellsOfRow(columns)));
  const answer = await selectDivided(client, selectRowStates(datastore, rows, columns, bodyBytes), 'writer');
  const { states, cut, long } = toRowStates(answer.rows, rows, columns);
  longColumns.add(datastore, long);
  const again = cut.length === 0 ? [] : [await readStates(reader, datastore, cut, allLong(columns))];
  if (answer.refused.size === 0 && again.length === 0) return { states, unread: [] };
  const refused = new Set<RowOfShard>();
  const unread: RowsUnread[] = [];
  const shards = [...Map.groupBy(rows, ({ shard }) => shard).values()];
  for (const [part, error] of answer.refused) {
    const ofShard = shards[part] ?? [];
    for (const row of ofShard) refused.add(row);
    if (!error.tooLarge || ofShard.length === 1) {
      unread.push({ rows: ofShard, error });
      continue;
    }
    const half = Math.ceil(ofShard.length / 2);
    for (const some of [ofShard.slice(0, half), ofShard.slice(half)])
      again.push(await readStates(reader, datastore, some, columns));
  }
  return {
    states: [...states.filter(({ row }) => !refused.has(row)), ...again.flatMap((one) => one.states)],
    unread: [...unread, ...again.flatMap((one) => one.unread)],
  };
}

function takeFirst(
  gathered: readonly GatheredEntries[],
  indexes: readonly PhysicalIndex[],
  column: string,
  depth: number,
  { row, cells }: RowState,
): RestOfColumn | undefined {
  const ofColumn = cells.get(column);
  const latest = ofColumn?.[0];
  if (!latest) return undefined;
  if (latest.body !== 'left_out')
    takeBody(gathered, indexes, { column, body: bodyOf(latest.body, row), isLatest: true });
  let after = latest.ref_key;
  let taken = 0;
  for (let position = 1; position < ofColumn.length; position += 1) {
    const { ref_key, body } = ofColumn[position] as CellOfRow;
    if (body === 'left_out') break;
    takeBody(gathered, indexes, { column, body: bodyOf(body, row), isLatest: false });
    after = ref_key;
    taken += 1;
  }
  // Fewer than asked for are all there are.
  const areAll = taken === ofColumn.length - 1 && (ofColumn.length < FIRST_CELLS || ofColumn.length >= depth);
  if (areAll && latest.body !== 'left_out') return undefined;
  return {
    column,
    latest: latest.body === 'left_out' ? latest : undefined,
    after,
    cells: areAll ? 0 : depth - 1 - taken,
  };
}

export function takeBody(
  gathered: readonly GatheredEntries[],
  indexes: readonly PhysicalIndex[],
  { column, body, isLatest }: { readonly column: string; readonly body: Json | undefined; readonly isLatest: boolean },
): void {
  const take = isLatest ? takeLatest : takeEarlier;
  for (let position = 0; position < indexes.length; position += 1)
    take(gathered[position] as GatheredEntries, (indexes[position] as PhysicalIndex).definition, column, body);
}

export function turns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}

/** Decodes a body, unless it was just written; undefined if damaged: reading the cell says why. */
export function bodyOf(stored: Uint8Array | null, { written = [] }: RowOfShard): Json | undefined {
  if (stored === null) return undefined;
  const same = written.find(({ encoded }) => encoded.length === stored.length && Buffer.compare(encoded, stored) === 0);
  if (same) return same.body;
  try {
    return decodeBody(stored);
  } catch {
    return undefined;
  }
}
