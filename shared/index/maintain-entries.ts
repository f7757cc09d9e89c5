import type { PlacedCell } from '../sql/encoded-cell.ts';
import type { StoreContext } from '../access/context.ts';
import { comesWithin } from '../sql/comes-within.ts';
import type { PhysicalIndex } from './index-table.ts';
import { concernedIndexes, rowsOf, statesAfter, type RowsAfter } from './rows-after.ts';
import { DEPTH, wantedEntries } from './wanted-entries.ts';
import { writeEntries } from './write-entries.ts';

/** How long a write waits for its entries; the repair writes the rest: an index never fails a write. */
const DEADLINE_MS = 250;

/**
 * Maintains the index entries of rows just written, before the write is answered. `cells`: stored cells; indexes of
 * other columns are left alone. `after`: what their rows were found to hold when stored; other rows are read now.
 * `areNew`: no cell was there before: a row without others has no entry yet.
 */
export async function maintainEntries(
  context: StoreContext,
  datastore: string,
  cells: readonly PlacedCell[],
  { after = [], areNew = false }: { readonly after?: readonly RowsAfter[]; readonly areNew?: boolean } = {},
): Promise<void> {
  if (cells.length === 0) return;
  const indexes = await concernedIndexes(context.topology, datastore, cells);
  if (indexes.length === 0) return;
  // Nothing more is sent once the write is answered: a function is frozen then.
  let isWanted = true;
  const rows = { datastore, indexes, cells, after, areNew, isWanted: () => isWanted };
  if (await comesWithin(DEADLINE_MS, maintainRows(context, rows))) return;
  isWanted = false;
  const error = new Error(`its entries were not written within ${DEADLINE_MS} ms`);
  context.report({ kind: 'index_missed', group: '', error });
}

interface MaintainedRows {
  readonly datastore: string;
  readonly indexes: readonly PhysicalIndex[];
  readonly cells: readonly PlacedCell[];
  readonly after: readonly RowsAfter[];
  readonly areNew: boolean;
  readonly isWanted: () => boolean;
}

/** Never fails. */
async function maintainRows(
  context: StoreContext,
  { datastore, indexes, cells, after, areNew, isWanted }: MaintainedRows,
): Promise<void> {
  const miss = (group: string, error: unknown): void => {
    if (isWanted()) context.report({ kind: 'index_missed', group, error });
  };
  try {
    const rows = rowsOf(cells, indexes);
    const wanted = { datastore, indexes, depth: DEPTH.recent };
    const { entries, unread } = await wantedEntries(context, wanted, rows, statesAfter(after, rows, indexes));
    for (const { error } of unread) miss('', error);
    if (!isWanted()) return;
    const missed = await writeEntries(context, datastore, entries, { areNew, isWanted });
    for (const [group, error] of new Map(missed.map((one) => [one.group, one.error]))) miss(group, error);
  } catch (error) {
    miss('', error);
  }
}
