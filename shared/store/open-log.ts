import type { Cell, Location, Role } from '../cell.ts';
import type { SchemalessError } from '../errors.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import type { AnswerRoom } from '../contract/answer-room.ts';
import type { ShardLog } from '../contract/datastore.ts';
import { decodeOrMark } from '../access/decode.ts';

/** One shard's log while it is read into an answer. */
export interface OpenLog {
  readonly shard: number;
  /** A time that has to be looked up, where that is its location. */
  readonly since: string | undefined;
  readonly cells: Cell[];
  /** The last added id read, or where its location stands. */
  next: number;
  /** How far it was seen to go. */
  head: number;
  /** What was fetched and is not in the answer yet. */
  stored: readonly StoredCell[];
  /** Its last fetch ended at its share of the room. */
  isCut: boolean;
  /** Who answered; a reader, if one answered part of it. */
  role: Role | undefined;
  error: SchemalessError | undefined;
}

export function openLog({ shard, after = 0, since }: Location): OpenLog {
  return { shard, since, cells: [], next: after, head: 0, stored: [], isCut: false, role: undefined, error: undefined };
}

/** How cells are taken into an answer. */
export interface Taking {
  readonly room: AnswerRoom;
  /** Bodies stay packed, where they can. */
  readonly packed: boolean | undefined;
  /** The first cell is taken whatever its size. */
  readonly anyway: boolean;
}

/**
 * Moves what was fetched into the answer: a cell of each log, then the next of each, until none is left or one does not
 * fit. Decodes one at a time, so that bodies that deflate a thousandfold cannot fill memory.
 */
export function takeInTurn(
  logs: readonly OpenLog[],
  { room, packed, anyway }: Taking,
): { readonly cells: number; readonly isFull: boolean } {
  let cells = 0;
  for (let turn = 0; ; turn += 1) {
    const before = cells;
    for (const log of logs) {
      const stored = log.stored[turn];
      if (!stored) continue;
      const decoded = decodeOrMark(stored, packed);
      if (!room.take(decoded, anyway && cells === 0)) return { cells, isFull: true };
      log.cells.push(decoded.cell);
      log.next = stored.added_id;
      cells += 1;
    }
    if (cells === before) return { cells, isFull: false };
  }
}

/**
 * Cells that are there and not in the answer, whether they had no room, are beyond the limit or behind a hole, are more
 * to come.
 */
export function toShardLog({ shard, cells, next, head, role = 'writer', error }: OpenLog): ShardLog {
  return error
    ? { shard, error }
    : { shard, cells, next, more: next < head, served_by: role, stale: role === 'reader' };
}
