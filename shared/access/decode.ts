import { decodeSized, JSON_GROWTH, plainBytesOf, unpackSized } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { unpacked } from '../body/packed-body.ts';
import type { Cell, Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import { answerRoom } from './answer-room.ts';
import type { AnswerRoom, Sized } from '../contract/answer-room.ts';

/** A cell as it is read, and how large it is in an answer. */
export interface DecodedCell extends Sized {
  readonly cell: Cell;
}

/**
 * A cell as it is read. Throws `undecodable_body` with the cell's address when its bytes were damaged.
 */
export function decodeCell(stored: StoredCell): Cell {
  return decodeSizedCell(stored).cell;
}

/**
 * The same, with its size.
 *
 * @param packed a body that can be handed on as it is stays packed
 */
export function decodeSizedCell(stored: StoredCell, packed = false): DecodedCell {
  const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
  if (stored.body === null)
    return withSize({ row_key, column_name, ref_key, body: null, added_id, shard, created_at, erased: true }, 0);
  let decoded: { readonly body: Json; readonly plainBytes: number };
  try {
    decoded = packed ? unpackSized(stored.body) : decodeSized(stored.body);
  } catch (cause) {
    const address = { row_key, column_name, ref_key };
    throw new SchemalessError(
      'undecodable_body',
      `cannot decode the body of ${row_key}/${column_name}/${ref_key} (shard ${shard}, added id ${added_id}): ${(cause as Error).message}`,
      {
        address,
        cause,
        more: { shard, added_id },
      },
    );
  }
  return withSize(
    { row_key, column_name, ref_key, body: decoded.body, added_id, shard, created_at },
    decoded.plainBytes,
  );
}

/** What a cell adds to an answer besides its body: names, address, times. */
const ENVELOPE_BYTES = 300;

function withSize(cell: Cell, plainBytes: number): DecodedCell {
  return { cell, atMostBytes: atMost(cell.column_name, plainBytes), measure: () => answerBytes(cell) };
}

/** An escaped character of a name takes six bytes, as one of a body does. */
function atMost(columnName: string, plainBytes: number): number {
  return ENVELOPE_BYTES + (columnName.length * 3 + plainBytes + 4) * JSON_GROWTH;
}

/**
 * What a cell takes in an answer at most: to know it takes a small part of the time and memory that decoding it does.
 */
export function atMostBytesOf({ column_name, body }: StoredCell): number {
  return atMost(column_name, body === null ? 0 : plainBytesOf(body));
}

/** The size of a cell in an answer, in bytes of JSON: a little over what it really takes. */
function answerBytes(cell: Cell): number {
  return ENVELOPE_BYTES + Buffer.byteLength(cell.column_name) * 2 + jsonBytes(unpacked(cell.body));
}

/** In a list, a damaged cell keeps its place and says what is wrong: it must not hide those behind it. */
export function decodeOrMark(stored: StoredCell, packed = false): DecodedCell {
  try {
    return decodeSizedCell(stored, packed);
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
    return withSize({ row_key, column_name, ref_key, body: null, added_id, shard, created_at, error }, 0);
  }
}

/**
 * Decodes cells until the answer is full, one at least unless told otherwise, so that bodies that deflate a
 * thousandfold cannot fill memory.
 *
 * @returns the cells that fit; fewer than given means that the list goes on after the last one
 */
export function decodeUntilFull(
  stored: readonly StoredCell[],
  packed = false,
  room: AnswerRoom = answerRoom(),
  anyway = true,
): Cell[] {
  const cells: Cell[] = [];
  for (const one of stored) {
    const decoded = decodeOrMark(one, packed);
    if (!room.take(decoded, anyway && cells.length === 0)) break;
    cells.push(decoded.cell);
  }
  return cells;
}
