import { decodeSized, JSON_GROWTH, plainBytesOf, unpackSized } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { markedPlace } from '../body/transaction-mark.ts';
import { unpacked } from '../body/packed-body.ts';
import { LIMITS, type Cell, type Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import type { AnswerRoom, Sized } from '../contract/answer-room.ts';
import { erasedCell, unlessErasure } from './erased-cell.ts';

export interface DecodedCell extends Sized {
  readonly cell: Cell;
}

/** Throws `undecodable_body` with the cell's address if its bytes are damaged. */
export function decodeCell(stored: StoredCell): Cell {
  return decodeSizedCell(stored).cell;
}

/** Decodes a cell with its size; `packed`: a body that can be handed on stays packed. */
export function decodeSizedCell(stored: StoredCell, packed = false): DecodedCell {
  const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
  if (stored.body === null) return withSize(erasedCell(stored), 0);
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
  const cell = { row_key, column_name, ref_key, body: decoded.body, added_id, shard, created_at };
  const transaction = markedPlace(stored.body);
  if (transaction) return withSize({ ...cell, transaction }, decoded.plainBytes);
  return withSize(unlessErasure(cell), decoded.plainBytes);
}

const ENVELOPE_BYTES = 300;

function withSize(cell: Cell, plainBytes: number): DecodedCell {
  return { cell, atMostBytes: atMost(cell.column_name, plainBytes), measure: () => answerBytes(cell) };
}

/** An escaped character takes six bytes, in a name as in a body. */
function atMost(columnName: string, plainBytes: number): number {
  return ENVELOPE_BYTES + (columnName.length * 3 + plainBytes + 4) * JSON_GROWTH;
}

/** Returns the most that a cell takes in an answer, without decoding it. */
export function atMostBytesOf({ column_name, body }: StoredCell): number {
  return atMost(column_name, body === null ? 0 : plainBytesOf(body));
}

/** Returns a little more than a cell takes in an answer, in bytes of JSON. */
function answerBytes(cell: Cell): number {
  return ENVELOPE_BYTES + Buffer.byteLength(cell.column_name) * 2 + jsonBytes(unpacked(cell.body));
}

/** In a list a damaged cell keeps its place with its error: it must not hide those behind it. */
export function decodeOrMark(stored: StoredCell, packed = false): DecodedCell {
  try {
    return decodeSizedCell(stored, packed);
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
    return withSize({ row_key, column_name, ref_key, body: null, added_id, shard, created_at, error }, 0);
  }
}

/** Decodes cells until the answer is full, or `room`, which others share; without it, the first one always. */
export function decodeUntilFull(stored: readonly StoredCell[], packed = false, room?: AnswerRoom): Cell[] {
  const left = room ?? answerRoom();
  const cells: Cell[] = [];
  for (const one of stored) {
    const decoded = decodeOrMark(one, packed);
    if (!left.take(decoded, !room && cells.length === 0)) break;
    cells.push(decoded.cell);
  }
  return cells;
}

/** Tracks an answer's room. Measuring costs as much as decoding: only what might not fit is measured. */
export function answerRoom(bytes: number = LIMITS.answerBytes): AnswerRoom {
  let left = bytes;
  let unmeasured: Sized[] = [];
  let unmeasuredAtMost = 0;

  function measureAll(): void {
    for (const { measure } of unmeasured) left -= measure();
    unmeasured = [];
    unmeasuredAtMost = 0;
  }

  return {
    take(one, anyway = false) {
      if (unmeasuredAtMost + one.atMostBytes <= left) {
        unmeasured.push(one);
        unmeasuredAtMost += one.atMostBytes;
        return true;
      }
      measureAll();
      const size = one.measure();
      if (size > left && !anyway) return false;
      left -= size;
      return true;
    },
    left() {
      if (unmeasuredAtMost > left / 2) measureAll();
      return left - unmeasuredAtMost;
    },
  };
}

export function noRoomLeft(): SchemalessError {
  return new SchemalessError(
    'answer_too_large',
    'the answer that this read shares with others has no room for it: ask for it alone',
  );
}
