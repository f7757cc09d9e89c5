import { LIMITS, type CellAddress, type ErasureScope } from './cell.ts';

/**
 * An erasure is a cell of its row, and so has a place in the shard's log: it is buffered, replicated, copied and followed
 * like any other. Where it stands says what is erased, and for ever: the column's name begins with a byte with which no
 * name begins that an application gives; what it holds is why, and who asked.
 *
 * | scope | column | ref key |
 * |---|---|---|
 * | `row`: all columns | `0x00` | 2^53-1 |
 * | `column`: all versions | `0x00`, the name | 2^53-1 |
 * | `versions`: up to one | `0x00`, the name | the last one that is erased |
 * | `cell` | `0x01`, the name | that of the cell |
 */

/** What an erasure is of: the row, without a column; a column of it, one of its versions, or all up to one. */
export interface ErasureTarget {
  readonly row_key: string;
  readonly column_name?: string | undefined;
  /** One version. */
  readonly ref_key?: number | undefined;
  /** That version and all before it. */
  readonly up_to?: number | undefined;
  /** All up to this one were erased before: with `up_to`, they are not looked at again. @default all are */
  readonly beyond?: number | undefined;
}

/** With which the column names of erasures begin: of a range, and of a single cell. */
const OF_RANGE = '\0';
const OF_CELL = '\x01';
/** What the name of a range is made of in SQL, with that of its column. */
export const RANGE_MARK = "X'00'";
/** The same of a single cell. */
export const CELL_MARK = "X'01'";
/** With which the first name may begin that is no erasure's, in SQL. */
export const FIRST_NAME = "X'02'";
/** The longest name of a column that can be erased by itself: a byte has to go before it. */
export const ERASABLE_NAME_BYTES = LIMITS.columnNameBytes - 1;

export function isErasureName(columnName: string): boolean {
  return columnName.startsWith(OF_RANGE) || columnName.startsWith(OF_CELL);
}

export function scopeOf({ column_name, ref_key, up_to }: Omit<ErasureTarget, 'row_key'>): ErasureScope {
  if (column_name === undefined) return 'row';
  if (ref_key !== undefined) return 'cell';
  return up_to === undefined || up_to === LIMITS.refKey ? 'column' : 'versions';
}

/** Where the erasure of a target stands. */
export function erasureAddress(target: ErasureTarget): CellAddress {
  const { row_key, column_name = '', ref_key, up_to } = target;
  return {
    row_key,
    column_name: erasureName(scopeOf(target), column_name),
    ref_key: ref_key ?? up_to ?? LIMITS.refKey,
  };
}

/** What the erasure that stands at an address is of; undefined where an application's cell stands. */
export function targetAt({ row_key, column_name, ref_key }: CellAddress): ErasureTarget | undefined {
  if (!isErasureName(column_name)) return undefined;
  const name = column_name.slice(1);
  if (name === '') return { row_key };
  if (column_name.startsWith(OF_CELL)) return { row_key, column_name: name, ref_key };
  return { row_key, column_name: name, ...(ref_key < LIMITS.refKey && { up_to: ref_key }) };
}

/** The column name under which an erasure stands, of what is told of it elsewhere. */
export function erasureName(scope: ErasureScope, columnName: string): string {
  return `${scope === 'cell' ? OF_CELL : OF_RANGE}${columnName}`;
}

/** Whether an erasure is of what stands at an address. */
export function covers(target: ErasureTarget, { row_key, column_name, ref_key }: CellAddress): boolean {
  if (row_key !== target.row_key || isErasureName(column_name)) return false;
  if (target.column_name === undefined) return true;
  if (column_name !== target.column_name) return false;
  return target.ref_key === undefined ? ref_key <= (target.up_to ?? LIMITS.refKey) : ref_key === target.ref_key;
}
