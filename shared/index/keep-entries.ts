import type { StoreContext } from '../access/context.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import type { RowOfShard } from '../sql/statements/select-row-states.ts';
import { DEPTH, wantedEntries, writeEntries } from './maintain.ts';
import type { PhysicalIndex } from './index-table.ts';
import { maintainedIndexes } from './maintained-indexes.ts';

/**
 * How long a write waits for its index entries. What is not done by then goes on by itself, and what fails the repair
 * makes good: an index never makes a write fail.
 */
const DEADLINE_MS = 250;

/**
 * Keeps the index entries of rows that were just written, before the write is answered.
 *
 * @param cells that were stored; indexes of other columns than theirs are left alone
 */
export async function keepEntries(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
): Promise<void> {
  if (cells.length === 0) return;
  const columns = new Set(cells.map(({ column_name }) => column_name));
  const indexes = (await maintainedIndexes(context.topology, datastore)).filter(({ definition }) =>
    definition.fields.some(({ column_key }) => columns.has(column_key)),
  );
  if (indexes.length === 0) return;
  const rows = [...Map.groupBy(cells, ({ row_key }) => row_key)].map(([row_key, written]): RowOfShard => ({
    row_key,
    shard: written[0]?.shard ?? -1,
    written,
  }));
  await withinDeadline(keepRows(context, datastore, indexes, rows));
}

/** Never fails. */
async function keepRows(
  context: StoreContext,
  datastore: string,
  indexes: readonly PhysicalIndex[],
  rows: readonly RowOfShard[],
): Promise<void> {
  const miss = (group: string, error: unknown): void => context.report({ kind: 'index_missed', group, error });
  try {
    const { entries, unread } = await wantedEntries(context, datastore, indexes, rows, DEPTH.recent);
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
