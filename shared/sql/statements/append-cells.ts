import { rowKeyBytes } from '../../address.ts';
import type { EncodedCell } from '../encoded-cell.ts';
import { toSqlTime } from '../../time.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { boundByCheck, erasureCheck } from './erasure-checks.ts';

export type RestoredEncodedCell = EncodedCell & Required<Pick<EncodedCell, 'stored_at'>>;

export function isRestored(cell: EncodedCell): cell is RestoredEncodedCell {
  return cell.stored_at !== undefined;
}

/** A batch holds restored cells alone, or new cells alone. */
export function areRestored(cells: readonly EncodedCell[]): cells is readonly RestoredEncodedCell[] {
  return cells.every(isRestored);
}

/** The shard and epoch that a write expects; at another epoch the append does nothing. */
export interface ShardFence {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** Also appends on a writer that may lack acknowledged cells, to bring them back. */
  readonly anyWriter?: boolean;
  /** See `erasureCheck`. If not set, the shard must have no erasures. */
  readonly checksErasures?: boolean;
}

/** A replica promoted without the last cells takes no appends: they could take acknowledged addresses. */
function writerFence({ anyWriter = false }: ShardFence): string {
  return anyWriter ? '' : ' AND (log.writer_id IS NULL OR log.writer_id = @@server_id)';
}

/** Appends share commits unless they are recovery's, and numbers unless something has to be looked up. */
function sharing(fence: ShardFence, cells: readonly EncodedCell[]): Pick<Statement, 'mayShareCommit' | 'log'> {
  const { datastore, shard, epoch, anyWriter = false, checksErasures = false } = fence;
  if (anyWriter) return {};
  const isNumbered = !checksErasures && !cells.some(isRestored);
  return {
    mayShareCommit: true,
    log: { datastore, shard, epoch, ...(isNumbered && { cells }) },
  };
}

/**
 * Appends cells to their shard's log in one statement, which needs no other and no transaction. Takes the shard's lock
 * row, checks that this group owns the shard, leaves out cells that exist or are erased, numbers the rest without holes
 * and inserts them.
 *
 * - The lock row is held to the commit, so ids become visible in order. Nothing burns an id, so a hole is a commit that
 *   is not visible yet. AUTO_INCREMENT gives ids before the commit: readers of `added_id > ?` would skip cells as soon
 *   as two writers meet.
 * - `first_id` keeps the lookup of the last cell at the end of the log.
 * - SYSDATE, not NOW: the time is taken under the lock, and never goes back within a shard.
 * - The insert id is the last added id; of n rows, the n ids up to it are ours, in the order of `cells`.
 *
 * @param cells of this shard, no address twice
 */
export function appendCells(fence: ShardFence, cells: readonly EncodedCell[]): Statement {
  return { ...appendRows(fence, cells.map(valuesOf)), ...sharing(fence, cells) };
}

/** Appends one cell, as `appendCells`. The insert id is its added id; no row changes if the shard refuses it. */
export function appendCell(fence: ShardFence, cell: EncodedCell): Statement {
  const entity = entityTable(fence.datastore, fence.shard);
  const { anyWriter = false, checksErasures = false } = fence;
  const texts = TEXTS[(anyWriter ? 2 : 0) + (checksErasures ? 1 : 0)] as Map<string, string>;
  let sql = texts.get(entity);
  if (sql === undefined) texts.set(entity, (sql = appendText(fence, OF_ONE)));
  const [rowKey, columnName] = [rowKeyBytes(cell.row_key), Buffer.from(cell.column_name)];
  return {
    sql,
    table: entity,
    ...sharing(fence, [cell]),
    parameters: [
      rowKey,
      columnName,
      cell.ref_key,
      cell.encoded,
      rowKey,
      columnName,
      cell.ref_key,
      ...(checksErasures ? boundByCheck(rowKey, columnName, cell.ref_key) : []),
      fence.datastore,
      fence.shard,
      fence.epoch,
    ],
  };
}

/** Texts by table, for each kind of fence: a text has a dozen pieces, and is the same for all cells of a shard. */
const TEXTS = Array.from({ length: 4 }, () => new Map<string, string>());

/**
 * Returns the time of new cells. Cells that recovery brings back are later than the last one. Behind a clock that was
 * ahead they would otherwise have the time of lost cells, and followers tell cells apart by address and time.
 */
function timeOf({ anyWriter = false }: ShardFence): string {
  return `GREATEST(SYSDATE(6), COALESCE(last.created_at${anyWriter ? ' + INTERVAL 1 MICROSECOND' : ''}, '2000-01-01'))`;
}

interface AppendedRows {
  /** Which behind the last of the log a row is. */
  readonly place: string;
  /** Row key, column name, ref key and body. */
  readonly values: readonly [string, string, string, string];
  /** @default that of new cells */
  readonly time?: string | undefined;
  readonly from: string;
  /** Appends all rows, if this holds, or none: an existing cell is a duplicate. @default leaves out existing cells */
  readonly ifAll?: string | undefined;
}

const OF_ONE: AppendedRows = { place: '1', values: ['?', '?', '?', '?'], from: '' };

function appendText(fence: ShardFence, { place, values, time, from, ifAll }: AppendedRows): string {
  const entity = entityTable(fence.datastore, fence.shard);
  const [rowKey, columnName, refKey] = values;
  const check = erasureCheck(entity, fence.checksErasures === true, [rowKey, columnName, refKey]);
  const joins = `LEFT JOIN ${entity} AS old ON old.row_key = ${rowKey} AND old.column_name = ${columnName} AND old.ref_key = ${refKey} ${check.joins}`;
  return [
    `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at)`,
    `SELECT LAST_INSERT_ID(COALESCE(last.added_id, log.first_id - 1) + ${place}), ${values.join(', ')}, ${time ?? timeOf(fence)}`,
    `FROM ${CONTROL}.shard AS log`,
    `LEFT JOIN ${entity} AS last ON last.added_id =`,
    `(SELECT tip.added_id FROM ${entity} AS tip WHERE tip.added_id >= log.first_id ORDER BY tip.added_id DESC LIMIT 1 FOR UPDATE)`,
    `${from}${ifAll === undefined ? joins : ''}WHERE log.datastore = ? AND log.shard = ? AND log.epoch = ? AND log.state = 'open'${writerFence(fence)}`,
    `${ifAll ?? `AND old.added_id IS NULL${check.condition}`} FOR UPDATE`,
  ].join(' ');
}

/**
 * Appends restored cells: `appendCells` with other times. A time is at least that of the cell before it, which is known
 * here; a window function would cost the square of their number. NOW, not SYSDATE: times in the future become one time.
 * `cells`: of this shard, no address twice.
 */
export function appendRestored(fence: ShardFence, cells: readonly RestoredEncodedCell[]): Statement {
  return { ...appendRows(fence, timedValues(cells), true), ...sharing(fence, cells) };
}

function timedValues(cells: readonly RestoredEncodedCell[]): readonly (readonly SqlParameter[])[] {
  let latest = '';
  return cells.map((cell) => {
    if (cell.stored_at > latest) latest = cell.stored_at;
    return [...valuesOf(cell), toSqlTime(latest)];
  });
}

function valuesOf({ row_key, column_name, ref_key, encoded }: EncodedCell): readonly SqlParameter[] {
  return [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded];
}

/** Appends all cells or none. `ifAll`: conditions on the locked row `log`, with AND before each. */
export function appendAll(fence: ShardFence, cells: readonly EncodedCell[], ifAll: string): Statement {
  return areRestored(cells)
    ? appendRows(fence, timedValues(cells), true, ifAll)
    : appendRows(fence, cells.map(valuesOf), false, ifAll);
}

function appendRows(
  fence: ShardFence,
  cells: readonly (readonly SqlParameter[])[],
  haveTimes = false,
  ifAll?: string,
): Statement {
  const [name, value] = haveTimes ? [', CAST(? AS DATETIME(6)) AS created_at', ', CAST(? AS DATETIME(6))'] : ['', ''];
  const rows = cells.map((_, position) =>
    position === 0
      ? `SELECT 0 AS position, ? AS row_key, ? AS column_name, ? AS ref_key, ? AS body${name}`
      : `SELECT ${position}, ?, ?, ?, ?${value}`,
  );
  return {
    table: entityTable(fence.datastore, fence.shard),
    sql: appendText(fence, {
      place: 'ROW_NUMBER() OVER (ORDER BY new.position)',
      values: ['new.row_key', 'new.column_name', 'new.ref_key', 'new.body'],
      time: haveTimes ? "GREATEST(LEAST(new.created_at, NOW(6)), COALESCE(last.created_at, '1000-01-01'))" : undefined,
      from: `JOIN (${rows.join(' UNION ALL ')}) AS new `,
      ifAll,
    }),
    parameters: [...cells.flat(), fence.datastore, fence.shard, fence.epoch],
  };
}
