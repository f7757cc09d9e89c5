import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { selectDivided } from '../sql/select-divided.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { selectRowStates, toRowStates, type CellOfRow, type ColumnDepth, type RowOfShard, type RowState } from '../sql/statements/select-row-states.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import { groupBy } from '../store/context.ts';
import { pageBytes } from '../store/read-group.ts';
import { columnsOf, gatherEntries, type RowEntries, type Version } from './entry.ts';
import type { PhysicalIndex } from './index-table.ts';

/** A row, and what each of the indexes should hold of it, in their order. */
export interface RowRead {
  readonly row: RowOfShard;
  readonly version: Version;
  readonly entries: readonly RowEntries[];
}

/** Rows that could not be read, and why: their shard's table is damaged or gone, say. */
export interface RowsUnread {
  readonly rows: readonly RowOfShard[];
  readonly error: unknown;
}

/** Rows read together, and those of them that could not be. */
export interface RowsPart {
  readonly read: readonly RowRead[];
  readonly unread: readonly RowsUnread[];
  /** Rows of many or long cells are still to come: what is in hand need not wait for them. */
  readonly more: boolean;
}

export interface RowsWanted {
  readonly datastore: string;
  readonly indexes: readonly PhysicalIndex[];
  /** Cells of the shard field's column to look for former values. */
  readonly depth: number;
}

/** Cells of a column that come with the first statement, which many rows share: few rows have more. */
const FIRST_CELLS = 8;
/** Bodies that a statement for many rows may bring, encoded: a request's own 4 MiB, as much again for former values, and as much again. */
const STATEMENT_BYTES = 16 * 1024 * 1024;
/** Cells of a page of one row's earlier ones. */
const PAGE_CELLS = 1000;
/** Decoding goes on for so long before others have their turn: the largest body takes about as long by itself. */
const TURN_MS = 20;

/**
 * Reads rows of one group **now**, from its writer, for what indexes should hold of them. What is in memory at a time is
 * bounded, whatever the rows hold: a statement brings a bounded number of bytes, of one row's earlier cells come page by
 * page, and of all bodies one is decoded at a time, of which nothing is kept but the fields: 400 bytes may well be 13 MB
 * of objects.
 *
 * @returns the rows whose cells came with one statement, together; then each other row by itself
 * @throws SqlError when the group cannot be asked; what it refuses costs the rows concerned alone
 */
export async function* readRows(client: SqlClient, rows: readonly RowOfShard[], wanted: RowsWanted): AsyncGenerator<RowsPart> {
  const columns = depthsOf(wanted);
  const { states, unread } = await readStates(client, rows, columns, wanted);
  const read: RowRead[] = [];
  const longer: LongRow[] = [];
  const takesTurns = turns();
  const astray: RowsUnread[] = [];
  for (const state of states) {
    if (state.epoch === 0) {
      astray.push({ rows: [state.row], error: new SchemalessError('unavailable', `row ${state.row.row_key} was looked for where its shard is not`) });
      continue;
    }
    const turn = takesTurns();
    if (turn) await turn;
    const gathering = gather(wanted.indexes, state);
    const rests: RestOfColumn[] = [];
    for (const { column, cells } of columns) {
      const rest = takeFirst(gathering, column, cells, state);
      if (rest) rests.push(rest);
    }
    if (rests.length === 0) read.push(gathering.done());
    else longer.push({ gathering, row: state.row, rests });
  }
  yield { read, unread: [...unread, ...astray], more: longer.length > 0 };
  for (const [place, { gathering, row, rests }] of longer.entries()) {
    const more = place < longer.length - 1;
    try {
      for (const rest of rests) await takeRest(client, wanted.datastore, { gathering, row, rest }, takesTurns);
      yield { read: [gathering.done()], unread: [], more };
    } catch (error) {
      if (!isOfRow(error)) throw error;
      yield { read: [], unread: [{ rows: [row], error }], more };
    }
  }
}

/** Cells of a column that did not come with the first statement. */
interface RestOfColumn {
  readonly column: string;
  /** The latest cell, where it was too long to come along. */
  readonly latest: CellOfRow | undefined;
  /** Earlier cells are looked at from here down. */
  readonly after: number;
  /** How many of them. */
  readonly cells: number;
}

interface LongRow {
  readonly gathering: Gathering;
  readonly row: RowOfShard;
  readonly rests: readonly RestOfColumn[];
}

/** The columns that any of the indexes needs, each as deep as the one that needs it deepest. */
function depthsOf({ indexes, depth }: RowsWanted): ColumnDepth[] {
  const depths = new Map<string, number>();
  for (const { definition } of indexes) {
    for (const [place, column] of columnsOf(definition).entries()) depths.set(column, Math.max(depths.get(column) ?? 1, place === 0 ? depth : 1));
  }
  return [...depths].map(([column, cells]) => ({ column, cells }));
}

/** The first statement. A refused one is divided until the shard at fault stands alone, a result that is too large until it fits. */
async function readStates(client: SqlClient, rows: readonly RowOfShard[], columns: readonly ColumnDepth[], wanted: RowsWanted): Promise<{ readonly states: readonly RowState[]; readonly unread: readonly RowsUnread[] }> {
  const first = columns.map(({ column, cells }) => ({ column, cells: Math.min(cells, FIRST_CELLS) }));
  const cellsOfRow = first.reduce((sum, { cells }) => sum + cells, 0);
  const bytes = rows.length === 1 ? pageBytes(client) : STATEMENT_BYTES;
  const parts = selectRowStates(wanted.datastore, rows, first, Math.floor(bytes / (rows.length * cellsOfRow)));
  const answer = await selectDivided(client, parts, 'writer');
  const all = toRowStates(answer.rows, rows);
  if (answer.refused.size === 0) return { states: all, unread: [] };

  const shards = [...groupBy(rows, ({ shard }) => shard).values()];
  const refused = new Set<RowOfShard>();
  const states: RowState[] = [];
  const unread: RowsUnread[] = [];
  for (const [part, error] of answer.refused) {
    const ofShard = shards[part] ?? [];
    for (const row of ofShard) refused.add(row);
    if (!error.tooLarge || ofShard.length === 1) {
      unread.push({ rows: ofShard, error });
      continue;
    }
    const half = Math.ceil(ofShard.length / 2);
    for (const some of [ofShard.slice(0, half), ofShard.slice(half)]) {
      const found = await readStates(client, some, columns, wanted);
      states.push(...found.states);
      unread.push(...found.unread);
    }
  }
  return { states: [...all.filter(({ row }) => !refused.has(row)), ...states], unread };
}

/** Collects what the indexes should hold of a row. */
interface Gathering {
  take(column: string, body: Json | undefined, isLatest: boolean): void;
  done(): RowRead;
}

function gather(indexes: readonly PhysicalIndex[], { row, epoch, cells }: RowState): Gathering {
  const ofIndexes = indexes.map(({ definition }) => gatherEntries(definition));
  let added_id = 0;
  for (const ofColumn of cells.values()) for (const cell of ofColumn) added_id = Math.max(added_id, cell.added_id);
  return {
    take(column, body, isLatest) {
      for (const ofIndex of ofIndexes) ofIndex.take(column, body, isLatest);
    },
    done: () => ({ row, version: { epoch, added_id }, entries: ofIndexes.map((ofIndex) => ofIndex.entries()) }),
  };
}

/** Takes the cells of a column that came with the first statement; returns what did not. */
function takeFirst(gathering: Gathering, column: string, depth: number, { row, cells }: RowState): RestOfColumn | undefined {
  const ofColumn = cells.get(column) ?? [];
  const [latest] = ofColumn;
  if (!latest) return undefined;
  if (latest.body !== 'left_out') gathering.take(column, bodyOf(latest.body, row), true);
  let after = latest.ref_key;
  let taken = 0;
  for (let place = 1; place < ofColumn.length; place += 1) {
    const { ref_key, body } = ofColumn[place] as CellOfRow;
    if (body === 'left_out') break;
    gathering.take(column, bodyOf(body, row), false);
    after = ref_key;
    taken += 1;
  }
  // Fewer than were asked for are all there are.
  const areAll = taken === ofColumn.length - 1 && (ofColumn.length < FIRST_CELLS || ofColumn.length >= depth);
  if (areAll && latest.body !== 'left_out') return undefined;
  return { column, latest: latest.body === 'left_out' ? latest : undefined, after, cells: areAll ? 0 : depth - 1 - taken };
}

/**
 * Takes the other cells of a column, page by page. They are of a later snapshot than the first statement's. One that was
 * written since has a higher ref key than the latest, and is not read, or a lower one: its tombstone is of a lower version
 * than its own entry and so does nothing.
 */
async function takeRest(client: SqlClient, datastore: string, { gathering, row, rest }: { readonly gathering: Gathering; readonly row: RowOfShard; readonly rest: RestOfColumn }, takesTurns: () => Promise<void> | undefined): Promise<void> {
  const { row_key, shard } = row;
  const { column, latest, cells } = rest;
  if (latest) {
    const key = { row_key, column_name: column, ref_key: latest.ref_key };
    const [answer] = byItem(await client.select(selectCells(datastore, [{ key, shard }], false), 'writer'), 1);
    gathering.take(column, bodyOf(answer?.cells[0]?.body ?? null, row), true);
  }
  for (let { after } = rest, left = cells; left > 0; ) {
    const range = { row_key, column_name: column, after, ascending: false, limit: Math.min(PAGE_CELLS, left), bytes: pageBytes(client) };
    const [page] = byItem(await client.select(selectVersions(datastore, shard, range, false), 'writer'), 1);
    const last = page?.cells.at(-1);
    if (!page || !last) return;
    for (const { body } of page.cells) {
      await takesTurns();
      gathering.take(column, bodyOf(body, row), false);
    }
    after = last.ref_key;
    left -= page.cells.length;
  }
}

/** Lets others have their turn once decoding has gone on for a while. */
function turns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}

/** What was just written is in hand; of a damaged body nothing can be said: reading the cell says what is wrong with it. */
function bodyOf(stored: Uint8Array | null, { written = [] }: RowOfShard): Json | undefined {
  if (stored === null) return undefined;
  const same = written.find(({ encoded }) => encoded.length === stored.length && Buffer.compare(encoded, stored) === 0);
  if (same) return same.body;
  try {
    return decodeBody(stored);
  } catch {
    return undefined;
  }
}

/** Whether a failure says something of the row, and nothing of its group. */
function isOfRow(error: unknown): boolean {
  return error instanceof SqlError && error.failure === 'rejected';
}
