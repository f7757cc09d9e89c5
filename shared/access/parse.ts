import { parseCount } from '../address.ts';
import { LIMITS, type Location, type Role } from '../cell.ts';
import { invalidField, missingField, SchemalessError } from '../errors.ts';
import { parseTime } from '../time.ts';

/** `limit` of any list. */
export function parseLimit(value: unknown, field = 'limit'): number {
  return value === undefined ? LIMITS.defaultLimit : parseCount(value, field, 1, LIMITS.listCells);
}

/**
 * Checks every item of a batch before any is used, so that a malformed one refuses the whole batch.
 *
 * @param parse checks one item; `prefix` is how its fields are named: `cells[3].`
 */
export function parseBatch<T, U>(
  items: readonly T[],
  field: string,
  parse: (item: T, prefix: string) => U,
  most: number = LIMITS.batchCells,
): U[] {
  if (!Array.isArray(items)) throw invalidField(field, 'an array', items);
  if (items.length > most) throw invalidField(field, `at most ${most} items`, items.length);
  return items.map((item: T, place) => {
    if (typeof item !== 'object' || item === null) throw invalidField(`${field}[${place}]`, 'an object', item);
    return parse(item, `${field}[${place}].`);
  });
}

/** A place in a shard's log: exactly one of `after` and `since`. A time is returned in UTC with six decimals. */
export function parseLocation(location: Location, shards: number, prefix = ''): Location {
  const shard = parseShard(location.shard, shards, `${prefix}shard`);
  if (location.after !== undefined && location.since !== undefined) {
    throw invalidField(`${prefix}since`, 'either `after` or `since`', 'both');
  }
  if (location.since !== undefined) return { shard, since: parseTime(location.since, `${prefix}since`) };
  if (location.after === undefined) throw missingField(`${prefix}after`, 'an added id (`after`) or a time (`since`)');
  return {
    shard,
    after: parseCount(location.after, `${prefix}after`, 0, Number.MAX_SAFE_INTEGER, 'an added id, 0 to 2^53-1'),
  };
}

export function parseShard(value: unknown, shards: number, field = 'shard'): number {
  const wanted = `a shard, 0 to ${shards - 1}`;
  if (value === undefined) throw missingField(field, wanted);
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalidField(field, wanted, value);
  if (value < 0 || value >= shards)
    throw new SchemalessError('unknown_shard', `${field}: wanted ${wanted}, got ${value}`, {
      field,
      wanted,
      got: String(value),
    });
  return value === 0 ? 0 : value;
}

/** `read` of any question. */
export function parseRead(value: unknown): Role {
  if (value === undefined || value === 'writer') return 'writer';
  if (value === 'reader') return 'reader';
  throw invalidField('read', 'writer or reader', value);
}
