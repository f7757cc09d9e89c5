import type { Location } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { parseTime } from '../../../shared/time.ts';
import { badUsage } from '../command-error.ts';

/** Where a follower begins in each log: the cell of an added id, or of a time, is the first that comes. */
type Start = 'start' | 'now' | { readonly id: number } | { readonly since: string };

const WANTED = 'start, now, an added id, or a time with zone like 2026-01-31T08:00:00Z';

export function readStart(text: string): Start {
  if (text === 'start' || text === 'now') return text;
  if (/^\d{1,16}$/u.test(text) && Number.isSafeInteger(Number(text))) return { id: Number(text) };
  try {
    return { since: parseTime(text, '--from') };
  } catch {
    throw badUsage('--from', WANTED, JSON.stringify(text.slice(0, 60)));
  }
}

type Reading = Pick<Datastore, 'heads'>;

/** Returns where to begin in each wanted shard (default all). Throws `unknown_shard`, `unavailable`. */
export async function startOf(
  client: Reading,
  { wanted, from, known }: { wanted: readonly number[]; from: Start; known: ReadonlyMap<number, number> },
): Promise<Map<number, Location>> {
  const heads = new Map((await client.heads()).map((head) => [head.shard, head]));
  const shards = wanted.length > 0 ? wanted : [...heads.keys()];
  return new Map(
    shards.map((shard) => {
      const head = heads.get(shard);
      if (head === undefined) {
        const [range, got] = [`0 to ${heads.size - 1}`, String(shard)];
        const message = `shard: wanted ${range}, got ${got}`;
        throw new SchemalessError('unknown_shard', message, { field: 'shard', wanted: range, got });
      }
      const after = known.get(shard);
      if (after !== undefined) return [shard, { shard, after }];
      if (from === 'start') return [shard, { shard, after: 0 }];
      if (from === 'now') {
        if (head.error) throw head.error;
        return [shard, { shard, after: head.head }];
      }
      return [shard, 'id' in from ? { shard, after: Math.max(0, from.id - 1) } : { shard, since: from.since }];
    }),
  );
}
