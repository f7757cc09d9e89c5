import type { StoreContext } from '../access/context.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { SqlRow, Statement } from '../sql/client.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import { selectRowsOfShard, toRowStates, type RowOfShard, type RowState } from '../sql/statements/select-row-states.ts';
import { DEPTH, wantedEntries, writeEntries } from './maintain.ts';
import { maintainedIndexes, type PhysicalIndex } from './index-table.ts';
import { depthsOf } from './read-rows.ts';

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
 */
export async function keepEntries(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
  after: readonly RowsAfter[] = [],
): Promise<void> {
  if (cells.length === 0) return;
  const indexes = await concernedIndexes(context.topology, datastore, cells);
  if (indexes.length > 0) await withinDeadline(keepRows(context, { datastore, indexes, cells, after }));
}

/** Indexes of the columns of cells. */
export async function concernedIndexes(
  topology: TopologySource,
  datastore: string,
  cells: readonly BufferedCell[],
): Promise<readonly PhysicalIndex[]> {
  const columns = new Set(cells.map(({ column_name }) => column_name));
  return (await maintainedIndexes(topology, datastore)).filter(({ definition }) =>
    definition.fields.some(({ column_key }) => columns.has(column_key)),
  );
}

interface KeptRows {
  readonly datastore: string;
  readonly indexes: readonly PhysicalIndex[];
  readonly cells: readonly BufferedCell[];
  readonly after: readonly RowsAfter[];
}

/** Never fails. */
async function keepRows(context: StoreContext, { datastore, indexes, cells, after }: KeptRows): Promise<void> {
  const miss = (group: string, error: unknown): void => context.report({ kind: 'index_missed', group, error });
  try {
    const { entries, unread } = await wantedEntries(
      context,
      { datastore, indexes, depth: DEPTH.recent },
      rowsOf(cells),
      statesAfter(after, indexes),
    );
    for (const { error } of unread) miss('', error);
    const missed = await writeEntries(context, datastore, entries);
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

/** Bodies that come with one append's answer, encoded: of rows that have longer ones, these are asked for later. */
const BODY_BYTES = 256 * 1024;

/** What rows hold right after cells of theirs were appended. */
export interface RowsAfter {
  /** Those whose columns were read. */
  readonly indexes: readonly PhysicalIndex[];
  readonly states: readonly RowState[];
}

/** What is to be read behind an append. */
interface WantedAfter {
  readonly statement: Statement;
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
  const rows = rowsOf(cells);
  const columns = depthsOf({ indexes, depth: DEPTH.recent });
  const mostCells = rows.length * columns.reduce((sum, { cells }) => sum + cells, 0);
  const items = rows.map(({ row_key }, item) => ({ row_key, item }));
  return {
    statement: selectRowsOfShard(datastore, shard, items, columns, Math.floor(BODY_BYTES / mostCells)),
    toRowsAfter: (read, epoch) => ({ indexes, states: toRowStates(read, rows, epoch) }),
  };
}

/** The rows that cells belong to, each once. */
function rowsOf(cells: readonly BufferedCell[]): readonly RowOfShard[] {
  const [only] = cells;
  if (cells.length === 1 && only) return [{ row_key: only.row_key, shard: only.shard, written: cells }];
  return [...Map.groupBy(cells, ({ row_key }) => row_key)].map(([row_key, written]): RowOfShard => ({
    row_key,
    shard: written[0]?.shard ?? -1,
    written,
  }));
}

/**
 * The states of rows that were read for all of the indexes at least, by row. Those of which a body was too long to come
 * along are read by themselves, which brings more at a time.
 */
function statesAfter(after: readonly RowsAfter[], indexes: readonly PhysicalIndex[]): ReadonlyMap<string, RowState> {
  const known = new Map<string, RowState>();
  for (const { indexes: read, states } of after) {
    if (!indexes.every((index) => read.includes(index))) continue;
    for (const state of states) if (isWhole(state)) known.set(state.row.row_key, state);
  }
  return known;
}

function isWhole({ cells }: RowState): boolean {
  return cells.values().every((ofColumn) => ofColumn.every(({ body }) => body !== 'left_out'));
}
