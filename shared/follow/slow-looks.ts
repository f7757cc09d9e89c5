import { SHARDS_A_PAGE } from './log-pages.ts';
import { LEAST_PAUSE_MS, MOST_PAUSE_MS, type Pauses } from './pace.ts';
import { phaseOf } from './phase-of.ts';

/** How often each shard is looked at where bells are heard: what is missed of them is found so late at most. */
const SLOW_MS = 10_000;

/**
 * The last moment, by the clock of `now`, at which a shard was to be looked at, whether or not it rang.
 *
 * @param held how many shards are followed with it: of so many as fill a page it is the same moment
 */
type SlowLooks = (shard: number, held: number, now: number) => number;

/**
 * Each shard has its moments, which come from the clock, its number and how many are held, in pages: followers of one
 * process that hold and pause alike look at the same ones in the same pass, and share statements. The moments lie just
 * before the ends of the longest pauses, where no pass begins, so that of two passes that begin together none finds a
 * shard due that the other does not.
 */
export function slowLooksOf({ leastMs = LEAST_PAUSE_MS, mostMs = MOST_PAUSE_MS }: Pauses = {}): SlowLooks {
  const longestMs = Math.max(1, mostMs);
  const passes = Math.max(1, Math.floor(SLOW_MS / longestMs));
  const everyMs = passes * longestMs;
  return (shard, held, now) => {
    const pages = Math.min(passes, Math.max(1, Math.round(held / SHARDS_A_PAGE)));
    const page = Math.floor(phaseOf(shard) * pages);
    const ofPage = Math.floor((page * passes) / pages) * longestMs - leastMs / 2;
    return Math.floor((now - ofPage) / everyMs) * everyMs + ofPage;
  };
}
