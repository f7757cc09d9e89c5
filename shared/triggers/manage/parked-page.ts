import { LIMITS } from '../../cell.ts';
import { invalidField } from '../../errors.ts';
import type { MalformedMessage, ParkedCell, ParkedPage } from '../../api/trigger-shapes.ts';
import type { FailingCell, TroubledShard } from '../state/trigger-store.ts';

export interface ParkedPageWanted {
  readonly limit: number;
  readonly after: ParkedCursor | undefined;
  /** @default what an answer may hold */
  readonly bytes?: number;
}

/** After a cell, or after a message: the cells come first. */
type ParkedCursor = { readonly shard: number; readonly added_id: number } | { readonly message_id: string };

const MESSAGE = 'message/';

/** Returns a page of what is parked. Changes between two pages move nothing else: the cursor is a location. */
export function parkedPage(
  troubled: readonly TroubledShard[],
  malformed: readonly MalformedMessage[],
  { limit, after, bytes = LIMITS.answerBytes }: ParkedPageWanted,
): ParkedPage {
  const cells = troubled
    .flatMap((shard) => shard.cells.flatMap(toParkedCell))
    .filter((cell) => isBeyond(cell, after))
    .sort((one, other) => one.shard - other.shard || one.added_id - other.added_id);
  const messages = malformed
    .filter(({ message_id }) => after === undefined || 'shard' in after || message_id > after.message_id)
    .sort((one, other) => (one.message_id < other.message_id ? -1 : 1));
  const fitting = countFitting([...cells, ...messages], limit, bytes);
  const page = { cells: cells.slice(0, fitting), malformed: messages.slice(0, Math.max(0, fitting - cells.length)) };
  return { ...page, next: fitting < cells.length + messages.length ? cursorBehind(page) : null };
}

/** Parses `next` of a page. Throws `invalid_field`. */
export function parseParkedCursor(text: string): ParkedCursor {
  if (text.startsWith(MESSAGE)) return { message_id: text.slice(MESSAGE.length) };
  const [, shard, added_id] = /^(\d{1,7}):(\d{1,15})$/.exec(text) ?? [];
  if (shard === undefined || added_id === undefined)
    throw invalidField('after', '`next` of a page of parked cells', text);
  return { shard: Number(shard), added_id: Number(added_id) };
}

function toParkedCell({ message, parked_at, retry, retried_at, ...failing }: FailingCell): readonly ParkedCell[] {
  if (parked_at === undefined) return [];
  const { shard, added_id, row_key, column_name, ref_key, created_at } = message;
  const { attempts, first_failed_at, last_failed_at, last_error, round } = failing;
  return [
    {
      shard,
      added_id,
      row_key,
      column_name,
      ref_key,
      created_at,
      attempts,
      first_failed_at,
      last_failed_at,
      last_error,
      parked_at,
      round,
      retry: retry ?? null,
      retried_at: retried_at ?? null,
    },
  ];
}

function isBeyond({ shard, added_id }: ParkedCell, after: ParkedCursor | undefined): boolean {
  if (after === undefined) return true;
  return 'shard' in after && (shard > after.shard || (shard === after.shard && added_id > after.added_id));
}

/** Returns at least one, so that each page leads on. */
function countFitting(items: readonly unknown[], limit: number, bytes: number): number {
  let room = bytes;
  const full = items
    .slice(0, limit)
    .findIndex((item, position) => (room -= Buffer.byteLength(JSON.stringify(item))) < 0 && position > 0);
  return full < 0 ? Math.min(limit, items.length) : full;
}

function cursorBehind({ cells, malformed }: Pick<ParkedPage, 'cells' | 'malformed'>): string | null {
  const message = malformed.at(-1);
  if (message) return `${MESSAGE}${message.message_id}`;
  const cell = cells.at(-1);
  return cell ? `${cell.shard}:${cell.added_id}` : null;
}
