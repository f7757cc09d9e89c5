import { rowKeyBytes, rowKeyOf } from '../../address.ts';
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
  /** Cells of it that were just written: a body that is found with these very bytes need not be decoded. */
  readonly written?: readonly EncodedCell[];
}

/** A column of the rows, and how many of its latest cells are wanted. */
export interface ColumnDepth {
  readonly column: string;
  readonly cells: number;
  /** Rows have many cells of it: their latest are asked for row by row. @default all of its cells come at once */
  readonly isLong?: boolean;
}

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
  readonly epoch: number;
  /** By column, the latest first. */
  readonly cells: ReadonlyMap<string, CellOfRow[]>;
}

/** Each write of an indexed column asks: by the key also where the statistics of a shard are those of before it filled. */
const BY_CELL = 'FORCE INDEX (cell)';

/** Of a column that is not long, cells of a row on the average: more would be read in vain. */
const FEW_CELLS = 4;

/** Cells that come of a row at most, on the average. */
export function cellsOfRow(columns: readonly ColumnDepth[]): number {
  return columns.reduce((sum, { isLong, cells }) => sum + (isLong ? cells : FEW_CELLS), 0);
}

/**
 * The latest cells of some columns of many rows of one group: a part for each shard of them, in the order in which they
 * first come, which brings its rows, and its epoch, in one snapshot. See `toRowStates`: not all may come.
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
  return [...byShard].map(([shard, ofShard]) => {
    const item = ofShard[0]?.item ?? 0;
    return selectRowsOfShard(datastore, shard, ofShard, { columns, bodyBytes, item, withEpoch: true });
  });
}

interface OfShard {
  readonly columns: readonly ColumnDepth[];
  readonly bodyBytes: number;
  /** Stands in the first column of all that comes. */
  readonly item: number;
  /** Of the shard, with each cell; once where there are none. @default it does not come */
  readonly withEpoch?: boolean;
}

/**
 * The same of rows of one shard. What a SELECT costs is that it is one: a union of one for each row and column took
 * three times as long for seventy rows of three columns (MariaDB: 15 ms and 5).
 */
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

/** How many SELECTs `selectRowsOfShard` has. */
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
  /** Rows of which not all that was wanted has come. */
  readonly cut: readonly RowOfShard[];
  /** The columns of which they have so many cells. */
  readonly long: readonly string[];
}

/**
 * In the order of `wanted`. Of rows of a shard that have many cells of columns that are not long, not all have come: they
 * are to be asked for as such.
 *
 * @param columns as they were asked for
 * @param epoch of the shards, where it is not among what was found
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
