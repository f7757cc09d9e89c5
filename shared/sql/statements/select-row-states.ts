import type { EncodedCell } from '../encoded-cell.ts';
import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import { isErasedBody } from '../../body/codec.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';

export interface RowOfShard {
  readonly row_key: string;
  readonly shard: number;
  /** The columns written; indexes of other columns are left alone. @default all columns */
  readonly columns?: readonly string[];
  /** Cells of it just written: a stored body with these bytes need not be decoded. */
  readonly written?: readonly EncodedCell[];
}

export interface ColumnDepth {
  readonly column: string;
  readonly cells: number;
  /** Rows have many cells of it, so each row's latest are read separately. */
  readonly isLong?: boolean;
}

export interface CellOfRow {
  readonly ref_key: number;
  readonly added_id: number;
  readonly createdAt: string;
  /** Encoded; null if erased; `left_out` if longer than asked for. */
  readonly body: Uint8Array | null | 'left_out';
}

/** A row as the writer shows it, in one snapshot with the other rows of its shard. */
export interface RowState {
  readonly row: RowOfShard;
  /** The shard's epoch; 0 if the shard is not here. */
  readonly epoch: number;
  /** By column, the latest first. */
  readonly cells: ReadonlyMap<string, CellOfRow[]>;
}

/** Names the key: statistics may be those of before the shard filled. */
const BY_CELL = 'FORCE INDEX (cell)';

/** Average cells of a row and short column that are read at most. */
const FEW_CELLS = 4;

export function cellsOfRow(columns: readonly ColumnDepth[]): number {
  return columns.reduce((sum, { isLong, cells }) => sum + (isLong ? cells : FEW_CELLS), 0);
}

/**
 * Selects the latest cells of some columns of many rows of one group: a part for each shard, with its epoch in one
 * snapshot. Not all may come, see `toRowStates`. `bodyBytes`: longer bodies are left out, which bounds the answer.
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
  return [...byShard].map(([shard, ofShard]) => {
    const item = ofShard[0]?.item ?? 0;
    return selectRowsOfShard(datastore, shard, ofShard, { columns, bodyBytes, item, withEpoch: true });
  });
}

interface OfShard {
  readonly columns: readonly ColumnDepth[];
  readonly bodyBytes: number;
  readonly item: number;
  /** The epoch comes with each cell, and once if there are none. */
  readonly withEpoch?: boolean;
}

/** Selects the same for rows of one shard in one SELECT: one for each row and column took three times. */
export function selectRowsOfShard(
  datastore: string,
  shard: number,
  rows: readonly { readonly row_key: string }[],
  { columns, bodyBytes, item, withEpoch = false }: OfShard,
): Required<Pick<Statement, 'sql' | 'parameters' | 'table'>> {
  const table = entityTable(datastore, shard);
  const parameters: SqlParameter[] = [];
  const selects: string[] = [];
  const keys = rows.map(({ row_key }) => rowKeyBytes(row_key));
  const found = (epoch: string): string =>
    `(SELECT ${item} AS item, row_key, added_id, column_name, IF(LENGTH(body) > ${bodyBytes}, NULL, body) AS body, ref_key, LENGTH(body) AS bytes, created_at, ${epoch} AS epoch FROM `;
  const short = columns.filter(({ isLong }) => !isLong);
  if (short.length > 0) {
    const which = `row_key IN (${keys.map(() => '?').join(', ')}) AND column_name IN (${short.map(() => '?').join(', ')})`;
    parameters.push(...keys, ...short.map(({ column }) => Buffer.from(column)));
    if (withEpoch) parameters.push(datastore, shard);
    parameters.push(mostCells(rows.length, short.length) + 1);
    selects.push(
      withEpoch
        ? `${found('epoch')}${CONTROL}.shard LEFT JOIN ${table} ${BY_CELL} ON ${which} WHERE datastore = ? AND shard = ? LIMIT ?)`
        : `${found('NULL')}${table} ${BY_CELL} WHERE ${which} LIMIT ?)`,
    );
  } else if (withEpoch) {
    parameters.push(datastore, shard);
    selects.push(
      `(SELECT ${item} AS item, NULL AS row_key, NULL AS added_id, NULL AS column_name, NULL AS body, NULL AS ref_key, NULL AS bytes, NULL AS created_at, epoch ` +
        `FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`,
    );
  }
  for (const key of keys)
    for (const { column, cells, isLong } of columns)
      if (isLong) {
        parameters.push(key, Buffer.from(column), cells);
        selects.push(
          `${found('NULL')}${table} ${BY_CELL} WHERE row_key = ? AND column_name = ? ORDER BY ref_key DESC LIMIT ?)`,
        );
      }
  return { sql: selects.join(' UNION ALL '), parameters, table };
}

/** Returns the number of SELECTs of `selectRowsOfShard`. */
export function branchesOf(rows: number, columns: readonly ColumnDepth[]): number {
  const long = columns.filter(({ isLong }) => isLong).length;
  return rows * long + (long < columns.length ? 1 : 0);
}

function mostCells(rows: number, columns: number): number {
  return FEW_CELLS * rows * columns;
}

function unlessErased(body: Uint8Array): Uint8Array | null {
  return isErasedBody(body) ? null : body;
}

interface RowStates {
  readonly states: readonly RowState[];
  readonly cut: readonly RowOfShard[];
  readonly long: readonly string[];
}

/**
 * Returns states in the order of `wanted`. Rows of a shard with many cells of short columns do not come whole: they are
 * to be asked for as long. `columns`: as asked for. `epoch`: of the shards, if the answer does not have it.
 */
export function toRowStates(
  found: readonly SqlRow[],
  wanted: readonly RowOfShard[],
  columns: readonly ColumnDepth[],
  epoch = 0,
): RowStates {
  const epochs = new Map<number, number>();
  const cells = new Map<string, Map<string, CellOfRow[]>>(wanted.map(({ row_key }) => [row_key, new Map()]));
  for (const [item, rowKey, added_id, column_name, body, ref_key, bytes, createdAt, ofShard] of found) {
    if (ofShard !== null && ofShard !== undefined) epochs.set(wanted[toNumber(item)]?.shard ?? -1, toNumber(ofShard));
    if (rowKey === null || rowKey === undefined) continue;
    const ofRow = cells.get(rowKeyOf(toBytes(rowKey)));
    if (!ofRow) throw new Error('a cell of a row that was not asked for');
    const cell: CellOfRow = {
      ref_key: toNumber(ref_key),
      added_id: toNumber(added_id),
      createdAt: String(createdAt),
      body: body === null || body === undefined ? (bytes === null ? null : 'left_out') : unlessErased(toBytes(body)),
    };
    const column = toText(column_name);
    const ofColumn = ofRow.get(column);
    if (ofColumn) ofColumn.push(cell);
    else ofRow.set(column, [cell]);
  }
  const states = wanted.map((row) => ({
    row,
    epoch: epochs.get(row.shard) ?? epoch,
    cells: cells.get(row.row_key) ?? NONE,
  }));
  const { cut, long } = findCut(states, columns);
  for (const ofRow of cells.values())
    for (const { column, cells: most } of columns) keepLatest(ofRow.get(column), most);
  return { states: cut.size === 0 ? states : states.filter(({ row }) => !cut.has(row)), cut: [...cut], long };
}

const NONE: ReadonlyMap<string, CellOfRow[]> = new Map();

/** A union promises no order. */
function keepLatest(cells: CellOfRow[] | undefined, most: number): void {
  if (cells === undefined || cells.length === 1) return;
  cells.sort((one, other) => other.ref_key - one.ref_key);
  if (cells.length > most) cells.length = most;
}

function findCut(
  states: readonly RowState[],
  columns: readonly ColumnDepth[],
): { readonly cut: ReadonlySet<RowOfShard>; readonly long: readonly string[] } {
  const cut = new Set<RowOfShard>();
  const long = new Set<string>();
  const short = columns.filter(({ isLong }) => !isLong);
  for (const ofShard of Map.groupBy(states, ({ row }) => row.shard).values()) {
    const counts = short.map(({ column }) =>
      ofShard.reduce((sum, { cells }) => sum + (cells.get(column)?.length ?? 0), 0),
    );
    if (counts.reduce((sum, count) => sum + count, 0) <= mostCells(ofShard.length, short.length)) continue;
    for (const { row } of ofShard) cut.add(row);
    for (const [position, count] of counts.entries())
      if (count > mostCells(ofShard.length, 1)) long.add(short[position]?.column ?? '');
  }
  return { cut, long: [...long] };
}
