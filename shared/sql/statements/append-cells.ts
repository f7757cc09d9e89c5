import { rowKeyBytes } from '../../address.ts';
import type { NewCell } from '../../cell.ts';
import { toSqlTime } from '../../time.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { boundByCheck, erasureCheck } from './erasure-checks.ts';
import { numberedAppend } from './numbered-append.ts';

export interface EncodedCell extends NewCell {
  readonly encoded: Uint8Array;
  /** When it was stored before: UTC, six decimals. Absent for a new cell. */
  readonly stored_at?: string;
}

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
    log: { datastore, shard, epoch, ...(isNumbered && { numbered: numberedAppend(fence, cells) }) },
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
  return {
    ...appendRows(fence, cells.map(valuesOf), {
      first: '',
      next: '',
      time: "GREATEST(SYSDATE(6), COALESCE(last.created_at, '2000-01-01'))",
    }),
    ...sharing(fence, cells),
  };
}

/** Appends one cell, as `appendCells`. The insert id is its added id; no row changes if the shard refuses it. */
export function appendCell(fence: ShardFence, cell: EncodedCell): Statement {
  const entity = entityTable(fence.datastore, fence.shard);
  const { anyWriter = false, checksErasures = false } = fence;
  const texts = TEXTS[(anyWriter ? 2 : 0) + (checksErasures ? 1 : 0)] as Map<string, string>;
  let sql = texts.get(entity);
  if (sql === undefined) texts.set(entity, (sql = textOf(entity, fence)));
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

function textOf(entity: string, fence: ShardFence): string {
  const check = erasureCheck(entity, fence.checksErasures === true, ['?', '?', '?']);
  return [
    `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at)`,
    'SELECT LAST_INSERT_ID(COALESCE(last.added_id, log.first_id - 1) + 1), ?, ?, ?, ?,',
    "GREATEST(SYSDATE(6), COALESCE(last.created_at, '2000-01-01'))",
    `FROM ${CONTROL}.shard AS log`,
    `LEFT JOIN ${entity} AS last ON last.added_id =`,
    `(SELECT tip.added_id FROM ${entity} AS tip WHERE tip.added_id >= log.first_id ORDER BY tip.added_id DESC LIMIT 1 FOR UPDATE)`,
    `LEFT JOIN ${entity} AS old ON old.row_key = ? AND old.column_name = ? AND old.ref_key = ?`,
    `${check.joins}WHERE log.datastore = ? AND log.shard = ? AND log.epoch = ? AND log.state = 'open'${writerFence(fence)} AND old.added_id IS NULL${check.condition} FOR UPDATE`,
  ].join(' ');
}

/**
 * Appends restored cells: `appendCells` with other times. A time is at least that of the cell before it, which is known
 * here; a window function would cost the square of their number. NOW, not SYSDATE: times in the future become one time.
 * `cells`: of this shard, no address twice.
 */
export function appendRestored(fence: ShardFence, cells: readonly RestoredEncodedCell[]): Statement {
  let latest = '';
  const values = cells.map((cell) => {
    if (cell.stored_at > latest) latest = cell.stored_at;
    return [...valuesOf(cell), toSqlTime(latest)];
  });
  const statement = appendRows(fence, values, {
    first: ', CAST(? AS DATETIME(6)) AS created_at',
    next: ', CAST(? AS DATETIME(6))',
    time: "GREATEST(LEAST(new.created_at, NOW(6)), COALESCE(last.created_at, '1000-01-01'))",
  });
  return { ...statement, ...sharing(fence, cells) };
}

function valuesOf({ row_key, column_name, ref_key, encoded }: EncodedCell): readonly SqlParameter[] {
  return [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded];
}

interface AppendTimes {
  readonly first: string;
  readonly next: string;
  readonly time: string;
}

function appendRows(
  fence: ShardFence,
  cells: readonly (readonly SqlParameter[])[],
  { first, next, time }: AppendTimes,
): Statement {
  const entity = entityTable(fence.datastore, fence.shard);
  const check = erasureCheck(entity, fence.checksErasures === true, ['new.row_key', 'new.column_name', 'new.ref_key']);
  const rows = cells.map((_, position) =>
    position === 0
      ? `SELECT 0 AS position, ? AS row_key, ? AS column_name, ? AS ref_key, ? AS body${first}`
      : `SELECT ${position}, ?, ?, ?, ?${next}`,
  );
  return {
    table: entity,
    sql:
      `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at) ` +
      `SELECT LAST_INSERT_ID(COALESCE(last.added_id, log.first_id - 1) + ROW_NUMBER() OVER (ORDER BY new.position)), ` +
      `new.row_key, new.column_name, new.ref_key, new.body, ` +
      `${time} ` +
      `FROM ${CONTROL}.shard AS log ` +
      `LEFT JOIN ${entity} AS last ON last.added_id = ` +
      `(SELECT tip.added_id FROM ${entity} AS tip WHERE tip.added_id >= log.first_id ORDER BY tip.added_id DESC LIMIT 1 FOR UPDATE) ` +
      `JOIN (${rows.join(' UNION ALL ')}) AS new ` +
      `LEFT JOIN ${entity} AS old ` +
      `ON old.row_key = new.row_key AND old.column_name = new.column_name AND old.ref_key = new.ref_key ` +
      `${check.joins}WHERE log.datastore = ? AND log.shard = ? AND log.epoch = ? AND log.state = 'open'${writerFence(fence)} AND old.added_id IS NULL${check.condition} FOR UPDATE`,
    parameters: [...cells.flat(), fence.datastore, fence.shard, fence.epoch],
  };
}
