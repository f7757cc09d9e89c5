import { decodeBody } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type Cell, type Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { StoredCell } from '../sql/cell-rows.ts';

/**
 * A cell as it is read. Throws `undecodable_body` with the cell's address when its bytes were damaged.
 */
export function decodeCell(stored: StoredCell): Cell {
  const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
  if (stored.body === null) return { row_key, column_name, ref_key, body: null, added_id, shard, created_at, erased: true };
  let body: Json;
  try {
    body = decodeBody(stored.body);
  } catch (cause) {
    const address = { row_key, column_name, ref_key };
    throw new SchemalessError('undecodable_body', `cannot decode the body of ${row_key}/${column_name}/${ref_key} (shard ${shard}, added id ${added_id}): ${(cause as Error).message}`, {
      address,
      cause,
      more: { shard, added_id },
    });
  }
  return { row_key, column_name, ref_key, body, added_id, shard, created_at };
}

/** What a cell adds to an answer besides its body: names, address, times. */
const ENVELOPE_BYTES = 300;

/** The size of a cell in an answer, in bytes of JSON: a little over what it really takes. */
export function answerBytes(cell: Cell): number {
  return ENVELOPE_BYTES + Buffer.byteLength(cell.column_name) * 2 + jsonBytes(cell.body);
}

/** In a list, a damaged cell keeps its place and says what is wrong: it must not hide those behind it. */
function decodeOrMark(stored: StoredCell): Cell {
  try {
    return decodeCell(stored);
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
    return { row_key, column_name, ref_key, body: null, added_id, shard, created_at, error };
  }
}

/**
 * Decodes cells until the answer is full, one at least, so that bodies that deflate a thousandfold cannot fill memory.
 *
 * @returns the cells that fit; fewer than given means that the list goes on after the last one
 */
export function decodeUntilFull(stored: readonly StoredCell[], room: number = LIMITS.answerBytes): { readonly cells: Cell[]; readonly bytes: number } {
  const cells: Cell[] = [];
  let bytes = 0;
  for (const one of stored) {
    const cell = decodeOrMark(one);
    const size = answerBytes(cell);
    if (cells.length > 0 && bytes + size > room) break;
    cells.push(cell);
    bytes += size;
  }
  return { cells, bytes };
}
