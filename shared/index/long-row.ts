import { byItem } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { decodeOrSkip, selectRowStates, toRowStates, type ColumnDepth, type RowOfShard } from '../sql/statements/select-row-states.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import { pageBytes } from '../store/read-group.ts';
import type { RowState } from './entry.ts';

/** Cells of a page. */
const PAGE_CELLS = 1000;

/**
 * The state of a row whose earlier cells are more than one result can bring: the latest cell of each column, and the
 * version, in one snapshot, then the earlier ones page by page. A cell that was written since is taken for an earlier
 * one, whose tombstone is of a lower version than that cell's own entry and so does nothing.
 */
export async function readLongRow(client: SqlClient, datastore: string, row: RowOfShard, columns: readonly ColumnDepth[]): Promise<RowState> {
  const latest = columns.map(({ column }) => ({ column, cells: 1 }));
  const [state] = toRowStates(await client.select(selectRowStates(datastore, [row], latest), 'writer'), [row]);
  if (!state) throw new Error('a row without a state');
  const bodies = new Map(state.bodies);
  for (const { column, cells } of columns) {
    const ofColumn = [...(bodies.get(column) ?? [])];
    let after: number | undefined;
    for (let read = cells > 1 ? 0 : cells; read < cells; ) {
      const range = { row_key: row.row_key, column_name: column, after, ascending: false, limit: Math.min(PAGE_CELLS, cells - read), bytes: pageBytes(client) };
      const [page] = byItem(await client.select(selectVersions(datastore, row.shard, range, false), 'writer'), 1);
      const last = page?.cells.at(-1);
      if (!page || !last) break;
      ofColumn.push(...page.cells.map(({ body }) => (body === null ? undefined : decodeOrSkip(body))));
      after = last.ref_key;
      read += page.cells.length;
    }
    bodies.set(column, ofColumn);
  }
  return { ...state, bodies };
}
