/** A table's highest id, and how many ms ago that was. */
export type Arrival = readonly [ago: number, id: number];

export type Arrivals = ReturnType<typeof openArrivals>;

interface Poll {
  readonly at: number;
  readonly id: number;
}

const POLLS = 64;

/** Tells the age of rows from earlier polls and the local steady clock: a server's clock may be an hour ahead. */
export function openArrivals(since: readonly Arrival[] = [], now: () => number = () => performance.now()) {
  let polls: Poll[] = since.map(([ago, id]) => ({ at: now() - ago, id }));

  return {
    note(last: number): void {
      // A replica was promoted without the last rows, whose ids others have now.
      polls = polls.filter(({ id }) => id <= last);
      polls.push({ at: now(), id: last });
      if (polls.length > POLLS) polls.splice(leastMissed(polls), 1);
    },
    /** Returns the highest id so many ms ago; 0 if there was no poll then. */
    idAt(ago: number): number {
      const then = now() - ago;
      return polls.findLast(({ at }) => at <= then)?.id ?? 0;
    },
    /** Returns ms since the id was first seen, or since the first poll. */
    ageOf(id: number): number {
      const first = polls.find((poll) => poll.id >= id) ?? polls.at(-1);
      return first ? Math.max(0, now() - first.at) : 0;
    },
    sawComing: (id: number): boolean => (polls[0]?.id ?? id) < id,
    saved: (): readonly Arrival[] => polls.map(({ at, id }) => [Math.round(now() - at), id] as const),
  };
}

/** Returns the poll whose neighbours are nearest for their age; never the first or the last. */
function leastMissed(polls: readonly Poll[]): number {
  const now = polls.at(-1)?.at ?? 0;
  let [least, found] = [Number.POSITIVE_INFINITY, 1];
  for (let position = 1; position < polls.length - 1; position += 1) {
    const [before, after] = [polls[position - 1]?.at ?? 0, polls[position + 1]?.at ?? 0];
    const gap = (after - before) / Math.max(1, now - before);
    if (gap < least) [least, found] = [gap, position];
  }
  return found;
}

/** Counts only the time in which something held at two polls in a row. */
export function openStopwatch() {
  let passed = 0;
  let since: number | undefined;
  return {
    now: (): number => passed,
    pass(isSo: boolean): void {
      const at = performance.now();
      if (isSo && since !== undefined) passed += at - since;
      since = isSo ? at : undefined;
    },
  };
}
