import { crc32 } from 'node:zlib';
import {
  LIMITS,
  type CellAddress,
  type CellKey,
  type DigestRange,
  type Location,
  type Role,
  type ErasureScope,
} from './cell.ts';
import { invalidField, missingField, wrongField } from './errors.ts';
import { parseTime } from './time.ts';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const WANTED_NAME = `a string of 1 to ${LIMITS.columnNameBytes} bytes of UTF-8, the first above 0x01`;
const WANTED_UUID = 'a UUID of 36 characters';

/** Parses a row key: a UUID of any version, in either case; returns lower case. Throws `invalid_field`. */
export function parseRowKey(value: unknown, field = 'row_key'): string {
  if (value === undefined) throw missingField(field, WANTED_UUID);
  if (typeof value !== 'string' || !UUID.test(value)) throw invalidField(field, WANTED_UUID, value);
  return value.toLowerCase();
}

/** Parses a column name: 1 to 255 bytes of well-formed UTF-8, the first above 0x01. Throws `invalid_field`. */
export function parseColumnName(value: unknown, field = 'column_name'): string {
  if (value === undefined) throw missingField(field, WANTED_NAME);
  // Lower first bytes mark the names of erasures, below.
  if (typeof value !== 'string' || value < '\x02') throw invalidField(field, WANTED_NAME, value);
  if (!value.isWellFormed()) throw invalidField(field, `${WANTED_NAME}, well-formed`, 'a lone surrogate');
  const bytes = Buffer.byteLength(value);
  if (bytes > LIMITS.columnNameBytes)
    throw invalidField(field, WANTED_NAME, `${value.slice(0, 20)}… of ${bytes} bytes`);
  return value;
}

/** Words of routes, not allowed as names in paths: `*` in IAM matches slashes, so a grant would match the name. */
export const ROUTE_WORDS = ['buffer', 'erasures', 'moves', 'retention', 'shards'] as const;
/** A pattern that excludes these words. */
export const NO_ROUTE_WORD = `(?!(?:${ROUTE_WORDS.join('|')})$)`;

/** The column names that routes accept in paths; the batch routes accept any. */
export const PATH_COLUMN_NAME = `^(?!\\.{1,2}$)${NO_ROUTE_WORD}[A-Za-z0-9_. -]{1,${LIMITS.columnNameBytes}}$`;

const PATH_COLUMN = /* @__PURE__ */ new RegExp(PATH_COLUMN_NAME);

/** Whether a column name in a path survives every gateway, proxy and URL parser (`.` and `..` do not), and IAM. */
export function isPathColumnName(name: string): boolean {
  return PATH_COLUMN.test(name);
}

/** Parses a ref key: an integer, 0 to 2^53-1. Throws `invalid_field`. */
export function parseRefKey(value: unknown, field = 'ref_key'): number {
  return parseCount(value, field, 0, LIMITS.refKey, 'an integer from 0 to 2^53-1');
}

/** Parses an address; `prefix` names the item of a batch: `cells[3].`. */
export function parseAddress(
  value: { readonly row_key: unknown; readonly column_name: unknown; readonly ref_key: unknown },
  prefix = '',
): CellAddress {
  return {
    row_key: parseRowKey(value.row_key, `${prefix}row_key`),
    column_name: parseColumnName(value.column_name, `${prefix}column_name`),
    ref_key: parseRefKey(value.ref_key, `${prefix}ref_key`),
  };
}

/** Checks a cell's key, or its column's without a ref key; `prefix` names a batch's item. Throws `invalid_field`. */
export function parseKey(value: { readonly [name in keyof CellKey]?: unknown }, prefix = ''): CellKey {
  return {
    row_key: parseRowKey(value.row_key, `${prefix}row_key`),
    column_name: parseColumnName(value.column_name, `${prefix}column_name`),
    ref_key: value.ref_key === undefined ? undefined : parseRefKey(value.ref_key, `${prefix}ref_key`),
    min_added_id: parseAddedId(value.min_added_id, `${prefix}min_added_id`),
  };
}

/** Parses an optional added id; 0 is before the first. Throws `invalid_field`. */
export function parseAddedId(value: unknown, field = 'min_added_id'): number | undefined {
  return value === undefined
    ? undefined
    : parseCount(value, field, 0, Number.MAX_SAFE_INTEGER, 'an added id, 0 to 2^53-1');
}

/** Checks an integer within bounds, both inclusive. Throws `invalid_field`. */
export function parseCount(
  value: unknown,
  field: string,
  least: number,
  most: number,
  wanted = `an integer from ${least} to ${most}`,
): number {
  if (value === undefined) throw missingField(field, wanted);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
    throw invalidField(field, wanted, value);
  return value === 0 ? 0 : value;
}

export function parseLimit(value: unknown, field = 'limit'): number {
  return value === undefined ? LIMITS.defaultLimit : parseCount(value, field, 1, LIMITS.listCells);
}

/** Parses every item of a batch; a malformed one fails all. `prefix` names an item's fields: `cells[3].`. */
export function parseBatch<T, U>(
  items: readonly T[],
  field: string,
  parse: (item: T, prefix: string) => U,
  most: number = LIMITS.batchCells,
): U[] {
  if (!Array.isArray(items)) throw invalidField(field, 'an array', items);
  if (items.length > most) throw invalidField(field, `at most ${most} items`, items.length);
  return items.map((item: T, position) => {
    if (typeof item !== 'object' || item === null) throw invalidField(`${field}[${position}]`, 'an object', item);
    return parse(item, `${field}[${position}].`);
  });
}

/** Parses a location in a log: exactly one of `after` and `since`. Returns a time in UTC with six decimals. */
export function parseLocation(location: Location, shards: number, prefix = ''): Location {
  const shard = parseShard(location.shard, shards, `${prefix}shard`);
  if (location.after !== undefined && location.since !== undefined) {
    throw invalidField(`${prefix}since`, 'either `after` or `since`', 'both');
  }
  if (location.since !== undefined) return { shard, since: parseTime(location.since, `${prefix}since`) };
  const after = parseAddedId(location.after, `${prefix}after`);
  if (after === undefined) throw missingField(`${prefix}after`, 'an added id (`after`) or a time (`since`)');
  return { shard, after };
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Parses the range of a log to digest. Throws `unknown_shard`, `missing_field`, `invalid_field`. */
export function parseDigestRange(range: DigestRange, shards: number): DigestRange & { readonly after: number } {
  const shard = parseShard(range.shard, shards);
  const at = parseAddedId(range.at, 'at');
  const after = parseAddedId(range.after, 'after');
  const { digest } = range;
  if (digest === undefined && after !== undefined) throw missingField('digest', 'the digest at `after`');
  if (digest !== undefined && after === undefined) throw missingField('after', 'the added id that `digest` is of');
  if (digest !== undefined && !(typeof digest === 'string' && DIGEST.test(digest)))
    throw invalidField('digest', '64 digits of 0-9 a-f', digest);
  if (at !== undefined && after !== undefined && after > at)
    throw invalidField('after', `at most ${at}, as \`at\` says`, after);
  return { shard, at, after: after ?? 0, digest };
}

export function parseShard(value: unknown, shards: number, field = 'shard'): number {
  const wanted = `a shard, 0 to ${shards - 1}`;
  if (value === undefined) throw missingField(field, wanted);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalidField(field, wanted, value);
  if (value >= shards) throw wrongField(field, wanted, String(value), 'unknown_shard');
  return value === 0 ? 0 : value;
}

export function parseRead(value: unknown): Role {
  if (value === undefined || value === 'writer') return 'writer';
  if (value === 'reader') return 'reader';
  throw invalidField('read', 'writer or reader', value);
}

export function rowKeyBytes(rowKey: string): Uint8Array {
  return Buffer.from(rowKey.replaceAll('-', ''), 'hex');
}

const DIGITS = /* @__PURE__ */ Buffer.from('0123456789abcdef');
// Marked for bundlers: clients do not need them.
/** A buffer reused for each row key: only its digits change. */
const text = /* @__PURE__ */ Buffer.from('00000000-0000-0000-0000-000000000000');

export function rowKeyOf(bytes: Uint8Array): string {
  let at = 0;
  for (let position = 0; position < 16; position += 1) {
    if (position === 4 || position === 6 || position === 8 || position === 10) at += 1;
    const byte = bytes[position] ?? 0;
    text[at] = DIGITS[byte >> 4] as number;
    text[at + 1] = DIGITS[byte & 15] as number;
    at += 2;
  }
  return text.toString('latin1');
}

/** Returns an address as one text, for maps. A column name may contain anything, so it comes last. */
export function addressKey({ row_key, column_name, ref_key }: CellAddress): string {
  return `${row_key}/${ref_key}/${column_name}`;
}

/** Returns the shard of a row. In SQL: `SELECT CRC32(UNHEX(REPLACE('6e3a0f9c-…', '-', ''))) % 4096`. */
export function shardOf(rowKey: string, shards: number): number {
  return crc32(rowKeyBytes(rowKey)) % shards;
}

/** Returns the name of a shard's database: `trips_0233`; five digits only with over 10,000 shards. */
export function shardDatabase(datastore: string, shard: number): string {
  return `${datastore}_${String(shard).padStart(4, '0')}`;
}

/** Returns the database name of a shard's copy, on the group of the copy: `trips_0233_copy`. */
export function copyDatabase(datastore: string, shard: number): string {
  return `${shardDatabase(datastore, shard)}_copy`;
}

/**
 * An erasure is a cell of its row in the shard's log: it is buffered, replicated, copied and followed like any other.
 * Its address permanently defines the erased cells: its column name begins with a byte that no application's name
 * begins with. Its body holds the reason and the requester.
 *
 * | scope | column | ref key |
 * |---|---|---|
 * | `row`: all columns | `0x00` | 2^53-1 |
 * | `column`: all versions | `0x00`, the name | 2^53-1 |
 * | `versions`: up to one | `0x00`, the name | the last one that is erased |
 * | `cell` | `0x01`, the name | that of the cell |
 */

/** The target of an erasure: a row (no column), a column, one of its versions, or all up to one. */
export interface ErasureTarget {
  readonly row_key: string;
  readonly column_name?: string | undefined;
  readonly ref_key?: number | undefined;
  /** That version and all before it. */
  readonly up_to?: number | undefined;
  /** With `up_to`: versions up to this one were erased before, and are skipped. @default none is skipped */
  readonly beyond?: number | undefined;
}

/** The first bytes of erasures' column names: of a range, and of a single cell. */
const OF_RANGE = '\0';
const OF_CELL = '\x01';
/** The first byte of a range's name in SQL; the name of its column follows. */
export const RANGE_MARK = "X'00'";
/** The first byte of a single cell's name in SQL. */
export const CELL_MARK = "X'01'";
/** The lower bound of names that are not erasures', in SQL. */
export const FIRST_NAME = "X'02'";
/** The longest name of a column that can be erased alone: its erasure's name is one byte longer. */
export const ERASABLE_NAME_BYTES = LIMITS.columnNameBytes - 1;

export function isErasureName(columnName: string): boolean {
  return columnName.startsWith(OF_RANGE) || columnName.startsWith(OF_CELL);
}

export function scopeOf({ column_name, ref_key, up_to }: Omit<ErasureTarget, 'row_key'>): ErasureScope {
  if (column_name === undefined) return 'row';
  if (ref_key !== undefined) return 'cell';
  return up_to === undefined || up_to === LIMITS.refKey ? 'column' : 'versions';
}

export function erasureAddress(target: ErasureTarget): CellAddress {
  const { row_key, column_name = '', ref_key, up_to } = target;
  return {
    row_key,
    column_name: erasureName(scopeOf(target), column_name),
    ref_key: ref_key ?? up_to ?? LIMITS.refKey,
  };
}

/** Returns the target of the erasure at an address; undefined for an application's cell. */
export function targetAt({ row_key, column_name, ref_key }: CellAddress): ErasureTarget | undefined {
  if (!isErasureName(column_name)) return undefined;
  const name = column_name.slice(1);
  if (name === '') return { row_key };
  if (column_name.startsWith(OF_CELL)) return { row_key, column_name: name, ref_key };
  return { row_key, column_name: name, ...(ref_key < LIMITS.refKey && { up_to: ref_key }) };
}

/** Returns whether a cell is in one of these columns, or erases cells there. */
export function isOfColumns(cell: CellAddress, columns: readonly string[]): boolean {
  if (columns.includes(cell.column_name)) return true;
  const target = targetAt(cell);
  return target !== undefined && (target.column_name === undefined || columns.includes(target.column_name));
}

/** Returns the column name of an erasure. */
export function erasureName(scope: ErasureScope, columnName: string): string {
  return `${scope === 'cell' ? OF_CELL : OF_RANGE}${columnName}`;
}

/** Returns whether an erasure covers an address. */
export function covers(target: ErasureTarget, { row_key, column_name, ref_key }: CellAddress): boolean {
  if (row_key !== target.row_key || isErasureName(column_name)) return false;
  if (target.column_name === undefined) return true;
  if (column_name !== target.column_name) return false;
  return target.ref_key === undefined ? ref_key <= (target.up_to ?? LIMITS.refKey) : ref_key === target.ref_key;
}
