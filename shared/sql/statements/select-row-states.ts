import { rowKeyBytes } from '../../address.ts';
import { isErasedBody } from '../../body/codec.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import type { EncodedCell } from './append-cells.ts';

/** A row whose index entries are to be computed. */
export interface RowOfShard {
  readonly row_key: string;
  readonly shard: number;
  /** Those of which cells were written: what indexes of other columns hold stays as it is. @default all columns */
  readonly columns?: readonly string[];
  /**
   * Cells of it that were just written: a body that is found with these very bytes need not be decoded. @default none
   */
  readonly written?: readonly EncodedCell[];
}

/** A column of the rows, and how many of its latest cells are read. */
export interface ColumnDepth {
  readonly column: string;
  readonly cells: number;
}

/** A cell as it was found. */
export interface CellOfRow {
  readonly ref_key: number;
  readonly added_id: number;
  /** As the database writes it: few want to know. */
  readonly createdAt: string;
  /** Still encoded; null once erased; `left_out`: longer than was asked for. */
  readonly body: Uint8Array | null | 'left_out';
}

/** What the writer of a row's group shows of it, in one snapshot with the other rows of its shard. */
export interface RowState {
  readonly row: RowOfShard;
  /** Of its shard; 0 where the shard is not here. */
  epoch: number;
  /** By column, the latest first. */
  readonly cells: ReadonlyMap<string, CellOfRow[]>;
}

/**
 * The latest cells of some columns of many rows of one group: a part for each shard of them, in the order in which they
 * first come, which brings its rows, and its epoch, in one snapshot.
 *
 * @param bodyBytes a longer body is left out, so that a statement brings so many bytes for each of its cells at most
 */
export function selectRowStates(
  datastore: string,
  rows: readonly RowOfShard[],
  columns: readonly ColumnDepth[],
  bodyBytes: number,
): readonly Statement[] {
  const byShard = Map.groupBy(
    rows.map(({ row_key, shard }, item) => ({ row_key, shard, item })),
    ({ shard }) => shard,
  );
  return [...byShard].map(([shard, ofShard]): Statement => {
    const { sql, parameters, table } = selectRowsOfShard(datastore, shard, ofShard, columns, bodyBytes);
    const epoch =
      `(SELECT ${ofShard[0]?.item ?? 0} AS item, epoch AS added_id, NULL AS column_name, NULL AS body, NULL AS ref_key, NULL AS bytes, NULL AS created_at ` +
      `FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`;
    return { sql: `${epoch} UNION ALL ${sql}`, parameters: [datastore, shard, ...parameters], table };
  });
}

/** The same of rows of one shard, without its epoch. */
export function selectRowsOfShard(
  datastore: string,
  shard: number,
  rows: readonly { readonly row_key: string; readonly item: number }[],
  columns: readonly ColumnDepth[],
  bodyBytes: number,
): Required<Pick<Statement, 'sql' | 'parameters' | 'table'>> {
  const table = entityTable(datastore, shard);
  const parameters: SqlParameter[] = [];
  const selects: string[] = [];
  for (const { row_key, item } of rows) {
    const key = rowKeyBytes(row_key);
    for (const { column, cells } of columns) {
      parameters.push(key, Buffer.from(column), cells);
      selects.push(
        `(SELECT ${item}, added_id, column_name, IF(LENGTH(body) > ${bodyBytes}, NULL, body), ref_key, LENGTH(body), created_at ` +
          `FROM ${table} WHERE row_key = ? AND column_name = ? ORDER BY ref_key DESC LIMIT ?)`,
      );
    }
  }
  return { sql: selects.join(' UNION ALL '), parameters, table };
}

function unlessErased(body: Uint8Array): Uint8Array | null {
  return isErasedBody(body) ? null : body;
}

/**
 * By row, in the order of `wanted`.
 *
 * @param epoch of the shards, where it is not among the rows
 */
export function toRowStates(rows: readonly SqlRow[], wanted: readonly RowOfShard[], epoch = 0): RowState[] {
  const states = wanted.map((row) => ({ row, epoch, cells: new Map<string, CellOfRow[]>() }));
  const epochs = new Map<number, number>();
  for (const [item, added_id, column_name, body, ref_key, bytes, createdAt] of rows) {
    const state = states[toNumber(item)];
    if (!state) throw new Error(`a row for item ${String(item)} of ${wanted.length}`);
    if (column_name === null || column_name === undefined) {
      epochs.set(state.row.shard, toNumber(added_id));
      continue;
    }
    const column = toText(column_name);
    const ofColumn = state.cells.get(column);
    const cell: CellOfRow = {
      ref_key: toNumber(ref_key),
      added_id: toNumber(added_id),
      createdAt: String(createdAt),
      body: body === null || body === undefined ? (bytes === null ? null : 'left_out') : unlessErased(toBytes(body)),
    };
    if (ofColumn) ofColumn.push(cell);
    else state.cells.set(column, [cell]);
  }
  for (const state of states) {
    state.epoch = epochs.get(state.row.shard) ?? epoch;
    // A union promises no order.
    for (const cells of state.cells.values())
      if (cells.length > 1) cells.sort((one, other) => other.ref_key - one.ref_key);
  }
  return states;
}
