import { createHash } from 'node:crypto';
import type { CellAddress, TransactionPlace } from '../cell.ts';

/**
 * The mark before the stored body of each cell of a transaction: a byte, the digest of all its cells, their number, and
 * the cell's position. Cells of a row with equal digests are of one transaction, so one of them in a log proves the
 * others. The body in its own format follows.
 */
const MARK = {
  plain: 5,
  /** The transaction has conditions. Only its own append evaluates them, so nothing else appends it later. */
  conditional: 6,
} as const;
const DIGEST_BYTES = 8;
const MARK_BYTES = 1 + DIGEST_BYTES + 2;

const IS_MARKED = `LEFT(body, 1) IN (X'0${MARK.plain}', X'0${MARK.conditional}')`;

/** The two bytes of size and position of a stored body in SQL, or NULL. */
export const PLACE_IN_SQL = `IF(${IS_MARKED}, SUBSTR(body, ${MARK_BYTES - 1}, 2), NULL)`;

/** Returns a condition in SQL: `body` of two tables is of one transaction. */
export function isSameTransaction(one: string, other: string): string {
  const begin = (table: string): string => `LEFT(${table}.body, ${MARK_BYTES - 2})`;
  return `${IS_MARKED.replace('body', `${one}.body`)} AND ${begin(one)} = ${begin(other)}`;
}

export function placeOf([size = 0, position = 0]: Uint8Array): TransactionPlace {
  return { size, position };
}

type Marked = Pick<CellAddress, 'column_name' | 'ref_key'> & { readonly encoded: Uint8Array };

/** Marks the unmarked bodies of one transaction of at most 255 cells. A lone cell without conditions gets no mark. */
export function markTransaction<Cell extends Marked>(cells: readonly Cell[], isConditional = false): readonly Cell[] {
  if (cells.length < 2 && !isConditional) return cells;
  const hash = createHash('sha256');
  for (const { column_name, ref_key, encoded } of cells)
    hash.update(`${ref_key} ${encoded.length} ${Buffer.byteLength(column_name)} ${column_name}`).update(encoded);
  const digest = hash.digest().subarray(0, DIGEST_BYTES);
  const begin = Buffer.concat([Buffer.from([isConditional ? MARK.conditional : MARK.plain]), digest]);
  return cells.map((cell, position) => ({
    ...cell,
    encoded: Buffer.concat([begin, Buffer.from([cells.length, position]), cell.encoded]),
  }));
}

/** Returns the stored body without its mark. */
export function unmarked(stored: Uint8Array): Uint8Array {
  return isMarked(stored) ? stored.subarray(MARK_BYTES) : stored;
}

/** Returns the place of a stored body in its transaction; undefined for a cell written alone. */
export function markedPlace(stored: Uint8Array): TransactionPlace | undefined {
  return isMarked(stored) ? placeOf(stored.subarray(MARK_BYTES - 2)) : undefined;
}

/** Returns the bytes with which the stored bodies of its transaction begin; undefined for a cell written alone. */
export function beginOf(stored: Uint8Array): Uint8Array | undefined {
  return isMarked(stored) ? stored.subarray(0, MARK_BYTES - 2) : undefined;
}

export function isConditional(stored: Uint8Array): boolean {
  return stored[0] === MARK.conditional;
}

function isMarked(stored: Uint8Array): boolean {
  return (stored[0] === MARK.plain || stored[0] === MARK.conditional) && stored.length > MARK_BYTES;
}
