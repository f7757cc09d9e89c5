import { LIMITS, type Role } from '../../../shared/cell.ts';
import type { ReadOptions } from '../../../shared/contract/datastore.ts';
import type { Query } from '../query.ts';
import type { HttpRequest } from '../request.ts';

/** The query parameters of every read of one row. */
export const READ_NAMES = ['read', 'min_added_id'] as const;

/** Who is asked, what it must have seen, and what room there is for the answer. Throws `invalid_field`. */
export function readOptions({ room, packed }: HttpRequest, query: Query): ReadOptions {
  return {
    room,
    packed,
    read: readRole(query),
    min_added_id: query.integer('min_added_id', 0, Number.MAX_SAFE_INTEGER),
  };
}

/** `read`: the writer or a reader; undefined when it does not come. Throws `invalid_field`. */
export function readRole(query: Query): Role | undefined {
  return query.choice('read', ['writer', 'reader']);
}

/** `limit` of any list. Throws `invalid_field`. */
export function readLimit(query: Query): number {
  return query.integer('limit', 1, LIMITS.listCells) ?? LIMITS.defaultLimit;
}
