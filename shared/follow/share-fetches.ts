import type { ShardLogEntries } from '../sql/statements/select-log-entries.ts';
import type { Role } from '../cell.ts';
import { fetchLogEntries, type FetchLogEntries } from './read-log-entries.ts';

/** Followers that wake together ask within a millisecond or two. */
const FOR_MS = 5;

interface Fetched {
  readonly role: Role;
  readonly entries: ShardLogEntries;
}

/** Shares one statement among followers that read the same ranges at once. An answer is milliseconds old at most. */
export function shareFetches(fetch: FetchLogEntries = fetchLogEntries, forMs = FOR_MS): FetchLogEntries {
  const known = new Map<string, Promise<Fetched>>();

  return async (context, group, from, ranges) => {
    const { datastore, read, limit, withHead = false } = from;
    const keyOf = ({ shard, at, to }: (typeof ranges)[number]): string =>
      `${group} ${datastore} ${read} ${limit} ${withHead} ${shard} ${at} ${to}`;
    const missing = ranges.filter((range) => !known.has(keyOf(range)));
    if (missing.length > 0) {
      const answer = fetch(context, group, from, missing);
      for (const [item, range] of missing.entries())
        known.set(
          keyOf(range),
          answer.then(({ role, found }) => ({ role, entries: found[item] ?? { entries: [], epoch: undefined } })),
        );
      const forget = (): void => missing.forEach((range) => known.delete(keyOf(range)));
      answer.then(() => setTimeout(forget, forMs), forget);
    }
    const parts = await Promise.all(ranges.map((range) => known.get(keyOf(range)) as Promise<Fetched>));
    return {
      role: parts.every(({ role }) => role === 'writer') ? 'writer' : 'reader',
      found: parts.map(({ entries }) => entries),
    };
  };
}
