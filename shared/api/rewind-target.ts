import { parseCount } from '../address.ts';
import { isObject } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { parseTime } from '../time.ts';
import type { Input } from './shape.ts';
import { ADDED_ID, TIME } from './words.ts';

/** `start`, `now`, a past time with zone (inclusive), or for some shards the added id after which to continue. */
export type RewindTarget = string | Readonly<Record<string, number>>;

const WANTED = '"start", "now", a time with zone that has passed, or an object of added ids by shard';
const SHARD = /^(?:0|[1-9]\d{0,6})$/u;

/** The datastore checks whether the shards and cells exist. */
export const REWIND_TARGET: Input<RewindTarget> = {
  describe: (components) => ({
    oneOf: [
      { enum: ['start', 'now'] },
      TIME.describe(components),
      {
        type: 'object',
        additionalProperties: ADDED_ID.describe(components),
        propertyNames: { pattern: SHARD.source },
        minProperties: 1,
        description: 'Added ids by shard.',
      },
    ],
  }),
  read(to, field) {
    if (to === undefined) throw missingField(field, WANTED);
    if (typeof to === 'string') return to === 'start' || to === 'now' ? to : parsePassed(to, field);
    if (!isObject(to)) throw invalidField(field, WANTED, to);
    const entries = Object.entries(to);
    if (entries.length === 0) throw invalidField(field, 'at least one shard', 'none');
    return Object.fromEntries(
      entries.map(([shard, addedId]): [string, number] => {
        if (!SHARD.test(shard)) throw invalidField(`${field}.${shard}`, 'the number of a shard', shard);
        const wanted = 'an added id, 0 to the last of the log';
        return [shard, parseCount(addedId, `${field}.${shard}`, 0, Number.MAX_SAFE_INTEGER, wanted)];
      }),
    );
  },
};

/** Parses a past time: a future one, as from a mistyped year, would skip unwritten cells. Throws `invalid_field`. */
export function parsePassed(to: string, field = 'to'): string {
  let since: string;
  try {
    since = parseTime(to, field);
  } catch {
    throw invalidField(field, WANTED, to);
  }
  if (Date.parse(since) > Date.now()) throw invalidField(field, WANTED, to);
  return since;
}
