import { rowKeyOf } from '../address.ts';
import { isErasedBody } from '../body/codec.ts';
import { fromSqlTime } from '../time.ts';
import type { SqlRow, SqlValue } from './client.ts';
import type { HiddenCells } from './hidden-cells.ts';

export interface StoredCell {
  readonly shard: number;
  readonly added_id: number;
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  readonly body: Uint8Array | null;
  /** The remainder of an erased body: its hashes. */
  readonly erased?: Uint8Array;
  /** The retention hides it; lists leave it out. */
  readonly isOut?: true;
  /** The body of a hidden cell that is not erased yet; never shown. */
  readonly hidden?: Uint8Array;
  readonly created_at: string;
  /** Bytes of the whole body if the statement bounded it: `body` may be only its beginning. */
  readonly bodyBytes?: number;
}

type Writable<T> = { -readonly [name in keyof T]: T[name] };

/** Rows that answer one item; `head` is the shard's last added id if it was asked for. */
export interface ItemRows {
  readonly cells: StoredCell[];
  head: number;
}

/** Returns the short select list of all reading statements. Hidden cells have the items -1, -2, … */
export function cellColumns(item: number, shard: number, bound?: BodyBound, hidden?: HiddenCells): string {
  return `${hidden ? `IF(${hidden.sql}, ${-1 - item}, ${item})` : item}, ${shard}, added_id, row_key, column_name, ref_key, ${bound ? `${boundBody(bound)}, created_at, LENGTH(body)` : 'body, created_at'}`;
}

export interface BodyBound {
  /** Longer bodies are left out, in bytes. */
  readonly bytes: number;
  /** Whether the beginnings of left-out bodies come along: a branch without them costs three times as much. */
  readonly withBeginnings: boolean;
}

function boundBody({ bytes, withBeginnings }: BodyBound): string {
  return withBeginnings ? `LEFT(body, ${bytes})` : `IF(LENGTH(body) > ${bytes}, X'', body)`;
}

export function leftOutBytes({ body, bodyBytes = 0 }: StoredCell): number | undefined {
  return body !== null && body.length < bodyBytes ? bodyBytes : undefined;
}

/** Returns one more row for an item: the shard's last added id in the same snapshot. */
export function headRow(item: number, shard: number, table: string, bound?: BodyBound): string {
  return `(SELECT ${item}, ${shard}, COALESCE(MAX(added_id), 0), NULL, NULL, NULL, NULL, NULL${bound ? ', NULL' : ''} FROM ${table})`;
}

/** Sorts a result by item; the cells of an item keep their order. */
export function byItem(rows: readonly SqlRow[], items: number): ItemRows[] {
  const sorted: ItemRows[] = [];
  for (let item = 0; item < items; item += 1) sorted.push({ cells: [], head: 0 });
  for (const row of rows) {
    const number = toNumber(row[0]);
    const answer = sorted[number < 0 ? -1 - number : number];
    if (!answer) throw new Error(`a row for item ${String(row[0])} of ${items}`);
    if (row[3] === null) answer.head = toNumber(row[2]);
    else answer.cells.push(number < 0 ? hide(toStoredCell(row)) : toStoredCell(row));
  }
  return sorted;
}

function hide({ body, ...cell }: StoredCell): StoredCell {
  return { ...cell, body: null, isOut: true, ...(body !== null && { hidden: body }) };
}

export function bytesCome({ body, erased, hidden }: StoredCell): number {
  return (body ?? hidden ?? erased)?.length ?? 0;
}

function toStoredCell(row: SqlRow): StoredCell {
  const bytes = row[8];
  const body = row[6] === null ? null : toBytes(row[6]);
  const cell: Writable<StoredCell> = {
    shard: toNumber(row[1]),
    added_id: toNumber(row[2]),
    row_key: rowKeyOf(toBytes(row[3])),
    column_name: toText(row[4]),
    ref_key: toNumber(row[5]),
    body,
    created_at: fromSqlTime(String(row[7])),
  };
  if (body !== null && isErasedBody(body)) {
    cell.body = null;
    cell.erased = body;
  }
  if (bytes !== undefined && bytes !== null) cell.bodyBytes = toNumber(bytes);
  return cell;
}

/** Returns an integer of a result. Throws for anything beyond 2^53, which only a damaged row holds. */
export function toNumber(value: SqlValue | undefined): number {
  const number = Number(value);
  if (value === null || value === undefined || !Number.isSafeInteger(number))
    throw new Error(`wanted an integer within 2^53, got ${String(value)}`);
  return number;
}

export function toBytes(value: SqlValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error(`wanted bytes, got ${typeof value}`);
}

/** Returns the text of a VARBINARY. A byte order mark stays: column names are bytes. */
export function toText(value: SqlValue | undefined): string {
  if (typeof value === 'string') return value;
  const bytes = toBytes(value);
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString();
}
