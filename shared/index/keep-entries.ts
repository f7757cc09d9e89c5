import type { StoreContext } from '../access/context.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import { DEPTH, wantedEntries, writeEntries } from './maintain.ts';
import type { PhysicalIndex } from './index-table.ts';
import { maintainedIndexes } from './maintained-indexes.ts';
import { rowsOf, statesAfter, type RowsAfter } from './rows-after.ts';

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
