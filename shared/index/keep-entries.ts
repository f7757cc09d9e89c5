import { groupBy, type StoreContext } from '../store/context.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import type { RowOfShard } from '../sql/statements/select-row-states.ts';
import { DEPTH, wantedEntries, writeEntries } from './maintain.ts';
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
export async function keepEntries(context: StoreContext, datastore: string, cells: readonly BufferedCell[]): Promise<void> {
  if (cells.length === 0) return;
  const columns = new Set(cells.map(({ column_name }) => column_name));
  const indexes = (await maintainedIndexes(context.topology, datastore)).filter(({ definition }) => definition.fields.some(({ column_key }) => columns.has(column_key)));
  if (indexes.length === 0) return;
  const distinct = [...groupBy(cells, ({ row_key }) => row_key)].map(([row_key, written]): RowOfShard => ({ row_key, shard: written[0]?.shard ?? -1, written }));
  const miss = (group: string, error: unknown): void => context.report({ kind: 'index_missed', group, error });
  const work = wantedEntries(context, datastore, indexes, distinct, DEPTH.recent).then(async ({ entries, unread }) => {
    for (const { error } of unread) miss('', error);
    for (const [group, [missed]] of groupBy(await writeEntries(context, datastore, entries), (one) => one.group)) miss(group, missed?.error);
  });
  await withinDeadline(work.catch((error: unknown) => miss('', error)));
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
