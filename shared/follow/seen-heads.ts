/** How far a log went, and when this process saw that, by its own clock. */
export interface SeenHead {
  readonly added_id: number;
  readonly at: number;
}

/** Kept of each shard: cells are handed out late by a sixteenth of the time at most. */
const KEPT = 16;

/**
 * Remembers that a log goes as far as this. Cells up to there are known from now on.
 *
 * @param seen in order of time, and of added id
 * @param behindMs what is older than this makes all before it superfluous
 */
export function withHead(seen: readonly SeenHead[], head: SeenHead, behindMs: number): readonly SeenHead[] {
  const last = seen.at(-1);
  if (last && head.added_id <= last.added_id) return seen;
  const known = seen.slice(
    Math.max(
      0,
      seen.findLastIndex(({ at }) => head.at - at >= behindMs),
    ),
  );
  // Two that are closer than that become one, the later: what is between them is then handed out a little later.
  const before = known.at(-2);
  const isClose = last !== undefined && before !== undefined && last.at - before.at < behindMs / KEPT;
  return [...(isClose ? known.slice(0, -1) : known), head];
}

/**
 * The last added id that this process has known for so long: 0 when none. Ages are measured by its own clock, from when
 * it first saw how far the log goes: `created_at` is of the clock of a server, and never goes back within a shard, so
 * that one moment of a clock that is ahead would keep every later cell young until that time has come.
 */
export function knownFor(seen: readonly SeenHead[], now: number, behindMs: number): number {
  return seen.findLast(({ at }) => now - at >= behindMs)?.added_id ?? 0;
}
