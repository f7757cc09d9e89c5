import type { Role } from '../cell.ts';
import type { LogRange, ShardLogEntries } from '../sql/statements/select-log-entries.ts';
import { selectNextCells, toItems } from '../sql/statements/select-next-cells.ts';
import type { StoreContext } from '../access/context.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { phaseOf } from './phase-of.ts';
import { fetchLogEntries, type FetchLogEntries } from './read-log-entries.ts';

/** Which of the ranges have a next cell, by their positions in the list. */
export type FetchNews = (
  context: StoreContext,
  group: string,
  from: { readonly datastore: string; readonly read: Role },
  ranges: readonly LogRange[],
) => Promise<{ readonly role: Role; readonly items: ReadonlySet<number> }>;

interface PeekOptions {
  /**
   * How often each shard is read in full, whether or not it has a next cell: how late a log that was cut, or a hole, is
   * noticed where nothing is written. @default 3000
   */
  readonly checkEveryMs?: number;
  /** @default `fetchLogEntries` */
  readonly fetch?: FetchLogEntries;
  /** @default one statement for all */
  readonly peek?: FetchNews;
  /** Milliseconds that only go forward. @default those of this process */
  readonly now?: () => number;
}

const peekNext: FetchNews = async (context, group, { datastore, read }, ranges) => {
  const { role, rows, refused } = await askParts(
    await context.groups.client(group),
    group,
    read,
    partsOf(selectNextCells(datastore, ranges)),
  );
  // What cannot be looked at is read: that says why.
  return { role, items: new Set([...toItems(rows), ...refused.keys()]) };
};

/** The end of a shard's log as it was last read in full. */
interface Seen {
  readonly at: number;
  readonly turn: number;
  readonly answer: ShardLogEntries;
}

/**
 * Looks with a small statement which shards have a next cell at all, and reads those; the others are answered with what
 * was read of them before, the cell at their offset, and marked `isQuiet`. At any moment most shards have nothing new,
 * and being asked so often is most of what a server has to do for its tailers.
 *
 * Each shard is still read in full once in a while, with those it is asked for together, and each such page at a moment
 * of its own: all at once would be felt. The moments come from the clock and the first shard alone, so that triggers
 * that share statements check together.
 */
export function peekFirst({
  checkEveryMs = 3000,
  fetch = fetchLogEntries,
  peek = peekNext,
  now = () => performance.now(),
}: PeekOptions = {}): FetchLogEntries {
  const seenOf = new Map<string, Map<number, Seen>>();

  return async (context, group, from, ranges) => {
    const name = `${group} ${from.datastore} ${from.read}`;
    const seen = seenOf.get(name) ?? new Map<number, Seen>();
    seenOf.set(name, seen);
    const turn = Math.floor(now() / checkEveryMs + phaseOf(ranges[0]?.shard ?? 0));

    const known = ranges.map(({ shard, at }) => {
      const one = seen.get(shard);
      return one?.at === at && one.turn === turn ? one.answer : undefined;
    });
    const quiet = ranges.flatMap((range, position) => (known[position] ? [{ range, position }] : []));
    const news =
      quiet.length > 0
        ? await peek(
            context,
            group,
            from,
            quiet.map(({ range }) => range),
          )
        : undefined;
    for (const item of news?.items ?? []) known[quiet[item]?.position ?? -1] = undefined;

    const wanted = ranges.filter((_, position) => !known[position]);
    const read = wanted.length > 0 ? await fetch(context, group, from, wanted) : undefined;
    for (const [item, { shard, at }] of wanted.entries()) {
      const end = endOf(read?.found[item], at, from.limit);
      if (end) seen.set(shard, { at: end.entries[0]?.added_id ?? 0, turn, answer: { ...end, isQuiet: true } });
      else seen.delete(shard);
    }
    const answers = read?.found.values();
    const isOfWriter = [news, read].every((one) => !one || one.role === 'writer');
    return {
      role: isOfWriter ? 'writer' : 'reader',
      found: known.map((answer) => answer ?? answers?.next().value ?? NOTHING),
    };
  };
}

const NOTHING: ShardLogEntries = { entries: [], epoch: undefined };

/**
 * What a read of this shard would show from the end of what was found on; undefined where there may be more, a hole, or
 * no sound beginning.
 */
function endOf(
  { entries, epoch, refusal }: ShardLogEntries = NOTHING,
  at: number,
  limit: number,
): ShardLogEntries | undefined {
  const next = at > 0 ? entries.slice(1) : entries;
  const isSound = refusal === undefined && (at === 0 || entries[0]?.added_id === at);
  if (!isSound || next.length >= limit || next.some(({ added_id }, position) => added_id !== at + position + 1))
    return undefined;
  return { entries: entries.slice(-1), epoch };
}
