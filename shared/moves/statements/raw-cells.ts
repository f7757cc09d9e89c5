import { rowKeyOf } from '../../address.ts';
import { toBytes, toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

/** A row of `entity`, byte for byte: a copy changes nothing of it, and does not look into bodies. */
export interface RawCell {
  readonly added_id: number;
  readonly row_key: Uint8Array;
  readonly column_name: Uint8Array;
  /** As MySQL writes it. */
  readonly ref_key: string;
  /** As it is stored, or what was left of it. */
  readonly body: Uint8Array | null;
  /** As MySQL writes it: six decimals. */
  readonly created_at: string;
}

const COLUMNS = 'added_id, row_key, column_name, ref_key, body, created_at';

function entityOf(database: string): string {
  return `${quoteName(database)}.\`entity\``;
}

/**
 * The cells that follow a place in a log, at most `limit`, and `bytes` of bodies once there is one. The reader must
 * stop at a hole. `database`: of the shard, or of its copy.
 */
export function selectRawCells(database: string, after: number, limit: number, bytes: number): Statement {
  const entity = entityOf(database);
  return {
    sql:
      `SELECT ${COLUMNS} FROM (SELECT added_id AS sized_id, SUM(bytes) OVER (ORDER BY added_id) - bytes AS taken FROM ` +
      `(SELECT added_id, COALESCE(LENGTH(body), 0) AS bytes FROM ${entity} FORCE INDEX (PRIMARY) WHERE added_id > ? ORDER BY added_id LIMIT ?) AS page) AS sized ` +
      `STRAIGHT_JOIN ${entity} FORCE INDEX (PRIMARY) ON added_id = sized_id WHERE taken < ? ORDER BY added_id`,
    parameters: [after, limit, bytes],
    table: entity,
  };
}

export function toRawCell([added_id, row_key, column_name, ref_key, body, created_at]: SqlRow): RawCell {
  return {
    added_id: toNumber(added_id),
    row_key: toBytes(row_key),
    column_name: toBytes(column_name),
    ref_key: toText(ref_key),
    body: body === null || body === undefined ? null : toBytes(body),
    created_at: toText(created_at),
  };
}

/** Returns the address of a raw cell for an error message. */
export function nameOfRaw({ row_key, column_name, ref_key }: RawCell): string {
  return `${rowKeyOf(row_key)}/${Buffer.from(column_name).toString()}/${ref_key}`;
}

/**
 * Puts cells into a copy at the places that they have; what is there already stays, and comparing tells whether it is
 * the same.
 */
export function insertRawCells(database: string, cells: readonly RawCell[]): Statement {
  return {
    sql: `INSERT INTO ${entityOf(database)} (${COLUMNS}) VALUES ${cells.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')} ON DUPLICATE KEY UPDATE added_id = added_id`,
    parameters: cells.flatMap(({ added_id, row_key, column_name, ref_key, body, created_at }) => [
      added_id,
      row_key,
      column_name,
      ref_key,
      body,
      created_at,
    ]),
  };
}

/** Cells that are taken back with one statement. */
export const CUT_CELLS = 1000;

/** Takes back what a copy has beyond a place, the last cells first: of a copy alone, never of a shard. */
export function cutCopy(database: string, after: number): Statement {
  return {
    sql: `DELETE FROM ${copiedEntity(database)} WHERE added_id > ? ORDER BY added_id DESC LIMIT ${CUT_CELLS}`,
    parameters: [after],
  };
}

/** Takes back all of it. */
export function emptyCopy(database: string): Statement {
  return { sql: `TRUNCATE TABLE ${copiedEntity(database)}`, parameters: [] };
}

function copiedEntity(database: string): string {
  if (!database.endsWith('_copy')) throw new Error(`cells are taken back of copies alone, not of ${database}`);
  return entityOf(database);
}

/** How far a log goes: 0 where it is empty. */
export function selectLastId(database: string): Statement {
  return { sql: `SELECT COALESCE(MAX(added_id), 0) FROM ${entityOf(database)}`, parameters: [] };
}

/** The same as it is at this moment, whatever a snapshot would show: no row where it is empty. */
export function selectLastIdNow(database: string): Statement {
  return {
    sql: `SELECT added_id FROM ${entityOf(database)} ORDER BY added_id DESC LIMIT 1 FOR UPDATE`,
    parameters: [],
  };
}
