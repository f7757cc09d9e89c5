import { rowKeyOf } from '../address.ts';
import { isErasedBody } from '../body/codec.ts';
import { fromSqlTime } from '../time.ts';
import type { SqlRow, SqlValue } from './client.ts';
import type { HiddenCells } from './hidden-cells.ts';

/** A cell as it lies in its table: the body still encoded. */
export interface StoredCell {
  readonly shard: number;
  readonly added_id: number;
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  /** Null once erased. */
  readonly body: Uint8Array | null;
  /** What is left of a body that was erased: its hashes. */
  readonly erased?: Uint8Array;
  /** It is out of its retention, erased or not: lists leave it out. @default it is not, or nobody asked */
  readonly isOut?: true;
  /** The body of a cell that is out of its retention, and not erased yet: it is not to be shown. */
  readonly hidden?: Uint8Array;
  readonly created_at: string;
  /** Bytes of the whole body, where no more than some were asked for: `body` may be its beginning alone. */
  readonly bodyBytes?: number;
}

type Writable<T> = { -readonly [name in keyof T]: T[name] };

/** Rows that answer one item of a statement; `head` is the shard's last added id where it was asked for. */
export interface ItemRows {
  readonly cells: StoredCell[];
  head: number;
}

/**
 * The select list that every reading statement shares, so that one mapper reads them all. The item says which key or
 * location of the request a row answers; all numbers are ours, not the client's.
 *
 * Short, since a statement may have a hundred branches of it: servers take longer to understand than to find a row.
 *
 * @param bound what comes of long bodies, and of each how long it is @default all come
 * @param hidden which cells are out of their retention: their items are numbered -1, -2, …
 */
export function cellColumns(item: number, shard: number, bound?: BodyBound, hidden?: HiddenCells): string {
  return `${hidden ? `IF(${hidden.sql}, ${-1 - item}, ${item})` : item}, ${shard}, added_id, row_key, column_name, ref_key, ${bound ? `${boundBody(bound)}, created_at, LENGTH(body)` : 'body, created_at'}`;
}

/** How much of a body comes with others. */
export interface BodyBound {
  /** Bytes: a longer one is left out. */
  readonly bytes: number;
  /**
   * Whether the beginnings of those that are left out come along. To leave out all of them costs a branch three times
   * as much, whether there is one or none, and is worth it where so many beginnings are too much.
   */
  readonly withBeginnings: boolean;
}

function boundBody({ bytes, withBeginnings }: BodyBound): string {
  return withBeginnings ? `LEFT(body, ${bytes})` : `IF(LENGTH(body) > ${bytes}, X'', body)`;
}

/** The length of a body that was left out, in bytes; undefined of one that came. */
export function leftOutBytes({ body, bodyBytes = 0 }: StoredCell): number | undefined {
  return body !== null && body.length < bodyBytes ? bodyBytes : undefined;
}

/**
 * One more row for an item: how far its shard's log goes in this very snapshot.
 *
 * @param bound as in the union's other branches
 */
export function headRow(item: number, shard: number, table: string, bound?: BodyBound): string {
  return `(SELECT ${item}, ${shard}, COALESCE(MAX(added_id), 0), NULL, NULL, NULL, NULL, NULL${bound ? ', NULL' : ''} FROM ${table})`;
}

/** Sorts a result by item. Cells of an item keep the order of the result. */
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

/** Bytes that came of a cell's body, shown or not: by which statements cut their lists. */
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

/**
 * An integer of a result. Added ids are dense and ref keys bounded by 2^53-1, so a number holds them all; anything
 * beyond is a damaged row, not something to round.
 */
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

/** The text of a VARBINARY. A byte order mark is a character like any other: column names are bytes. */
export function toText(value: SqlValue | undefined): string {
  if (typeof value === 'string') return value;
  const bytes = toBytes(value);
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString();
}
