import type { PlacedCell } from '../sql/encoded-cell.ts';
import type { ReadAfterCommit, SqlRow } from '../sql/client.ts';
import {
  branchesOf,
  cellsOfRow,
  selectRowsOfShard,
  toRowStates,
  type RowOfShard,
  type RowState,
} from '../sql/statements/select-row-states.ts';
import type { StoreContext } from '../access/context.ts';
import type { TopologySource } from '../topology/topology.ts';
import { maintainedIndexes, type PhysicalIndex } from './index-table.ts';
import { depthsOf } from './read-rows.ts';
import { DEPTH, readsAny } from './wanted-entries.ts';

export async function concernedIndexes(
  topology: TopologySource,
  datastore: string,
  cells: readonly PlacedCell[],
): Promise<readonly PhysicalIndex[]> {
  const columns = cells.map(({ column_name }) => column_name);
  return (await maintainedIndexes(topology, datastore)).filter((index) => readsAny(index, columns));
}

/** Encoded bytes of bodies that come with an append; longer ones are read later. */
const BODY_BYTES = 256 * 1024;

export interface RowsAfter {
  readonly indexes: readonly PhysicalIndex[];
  readonly states: readonly RowState[];
}

interface WantedAfter {
  readonly read: ReadAfterCommit;
  toRowsAfter(rows: readonly SqlRow[], epoch: number): RowsAfter;
}

/** Reads what the concerned indexes need of rows, in the round trip of the append. */
export function wantRowsAfter(
  { longColumns }: StoreContext['found'],
  { datastore, shard }: { readonly datastore: string; readonly shard: number },
  cells: readonly PlacedCell[],
  indexes: readonly PhysicalIndex[],
): WantedAfter {
  const rows = rowsOf(cells, indexes);
  const columns = longColumns.mark(datastore, depthsOf({ indexes, depth: DEPTH.recent }));
  const bodyBytes = Math.floor(BODY_BYTES / (rows.length * cellsOfRow(columns)));
  return {
    read: {
      branches: branchesOf(rows.length, columns),
      from: (item) => selectRowsOfShard(datastore, shard, rows, { columns, bodyBytes, item }),
    },
    toRowsAfter(read, epoch) {
      const { states, long } = toRowStates(read, rows, columns, epoch);
      longColumns.add(datastore, long);
      return { indexes, states };
    },
  };
}

export function rowsOf(cells: readonly PlacedCell[], indexes: readonly PhysicalIndex[]): readonly RowOfShard[] {
  const rows: RowOfShard[] = [];
  const byRow = cells.length === 1 ? [cells] : Map.groupBy(cells, ({ row_key }) => row_key).values();
  for (const written of byRow) {
    const { row_key, shard } = written[0] as PlacedCell;
    const columns = written.map(({ column_name }) => column_name);
    if (indexes.some((index) => readsAny(index, columns))) rows.push({ row_key, shard, columns, written });
  }
  return rows;
}

/** Returns states by row that were read for all indexes that concern it. Rows with left-out bodies are read again. */
export function statesAfter(
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
