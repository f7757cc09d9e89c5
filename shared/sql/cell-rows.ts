import { rowKeyOf } from '../address.ts';
import { fromSqlTime } from '../time.ts';
import type { SqlRow, SqlValue } from './client.ts';

/** A cell as it lies in its table: the body still encoded, null once erased. */
export interface StoredCell {
  readonly shard: number;
  readonly added_id: number;
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  readonly body: Uint8Array | null;
  readonly created_at: string;
}

/** Rows that answer one item of a statement; `head` is the shard's last added id where it was asked for. */
export interface ItemRows {
  readonly cells: StoredCell[];
  head: number;
}

/**
 * The select list that every reading statement shares, so that one mapper reads them all. The item says which key or
 * location of the request a row answers; all numbers are ours, not the client's.
 *
 * @param most bytes of a body that comes; of a longer one only its length does @default all come
 */
export function cellColumns(item: number, shard: number, most = Number.POSITIVE_INFINITY): string {
  const body = Number.isSafeInteger(most) ? `IF(LENGTH(entity.body) > ${most}, CONCAT(X'00', LENGTH(entity.body)), entity.body)` : 'entity.body';
  return `${item} AS item, ${shard} AS shard, entity.added_id, entity.row_key, entity.column_name, entity.ref_key, ${body}, entity.created_at`;
}

/** The length of a body that was left out for it, in bytes; undefined of one that came. No format of bodies is 0. */
export function leftOutBytes({ body }: StoredCell): number | undefined {
  const digits = body?.[0] === 0 ? toText(body.subarray(1)) : '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/** One more row for an item: how far its shard's log goes in this very snapshot. */
export function headRow(item: number, shard: number, table: string): string {
  return `(SELECT ${item}, ${shard}, COALESCE(MAX(added_id), 0), NULL, NULL, NULL, NULL, NULL FROM ${table})`;
}

/** Sorts a result by item. Cells of an item keep the order of the result. */
export function byItem(rows: readonly SqlRow[], items: number): ItemRows[] {
  const sorted: ItemRows[] = Array.from({ length: items }, () => ({ cells: [], head: 0 }));
  for (const row of rows) {
    const answer = sorted[toNumber(row[0])];
    if (!answer) throw new Error(`a row for item ${String(row[0])} of ${items}`);
    if (row[3] === null) answer.head = toNumber(row[2]);
    else answer.cells.push(toStoredCell(row));
  }
  return sorted;
}

function toStoredCell(row: SqlRow): StoredCell {
  return {
    shard: toNumber(row[1]),
    added_id: toNumber(row[2]),
    row_key: rowKeyOf(toBytes(row[3])),
    column_name: toText(row[4]),
    ref_key: toNumber(row[5]),
    body: row[6] === null ? null : toBytes(row[6]),
    created_at: fromSqlTime(String(row[7])),
  };
}

/**
 * An integer of a result. Added ids are dense and ref keys bounded by 2^53-1, so a number holds them all; anything
 * beyond is a damaged row, not something to round.
 */
export function toNumber(value: SqlValue | undefined): number {
  const number = Number(value);
  if (value === null || value === undefined || !Number.isSafeInteger(number)) throw new Error(`wanted an integer within 2^53, got ${String(value)}`);
  return number;
}

export function toBytes(value: SqlValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error(`wanted bytes, got ${typeof value}`);
}

/** The text of a VARBINARY. A byte order mark is a character like any other: column names are bytes. */
export function toText(value: SqlValue | undefined): string {
  if (typeof value === 'string') return value;
  const bytes = toBytes(value);
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString();
}
