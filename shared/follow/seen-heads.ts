/** How far a log went, and when this process saw that, by its own clock. */
export interface SeenHead {
  readonly added_id: number;
  readonly at: number;
}

/** Heads kept of each shard: cells are handed out late by at most a sixteenth of the time. */
const KEPT = 16;

/** Adds a head to those seen, which are in order, and drops those that one older than `behindMs` makes superfluous. */
export function withHead(seen: readonly SeenHead[], head: SeenHead, behindMs: number): readonly SeenHead[] {
  const last = seen.at(-1);
  if (last && head.added_id <= last.added_id) return seen;
  const known = seen.slice(
    Math.max(
      0,
      seen.findLastIndex(({ at }) => head.at - at >= behindMs),
    ),
  );
  // Two heads that are closer become the later one: cells between them are handed out a little later.
  const before = known.at(-2);
  const isClose = last !== undefined && before !== undefined && last.at - before.at < behindMs / KEPT;
  return [...(isClose ? known.slice(0, -1) : known), head];
}

/**
 * Returns the last added id that this process has known for so long, 0 if none. It does not use `created_at`: after a
 * moment of a server's clock that is ahead, every later cell of the shard would stay too young until that time.
 */
export function knownFor(seen: readonly SeenHead[], now: number, behindMs: number): number {
  return seen.findLast(({ at }) => now - at >= behindMs)?.added_id ?? 0;
}
