/** How long ago a buffer table had come to an id, in milliseconds. */
export type Arrival = readonly [ago: number, id: number];

/** When the rows of one buffer table came, by the clock of who looks. */
export interface Arrivals {
  /** The table's highest id is this one now. */
  note(last: number): void;
  /** The highest id that was there so many milliseconds ago; 0 where nobody looked then. */
  idAt(ago: number): number;
  /** Milliseconds since the id was first seen; since the first look of all, where it was there already. */
  ageOf(id: number): number;
  /** Whether the id came while somebody looked. */
  sawComing(id: number): boolean;
  /** For who comes after: see `since`. */
  saved(): readonly Arrival[];
}

/** An id that was the highest at a moment of the local clock. */
interface Look {
  readonly at: number;
  readonly id: number;
}

/** Looks that are kept: the longer ago, the further apart. */
const LOOKS = 64;

/**
 * Tells the age of rows by the ids that were there when somebody looked, and when that was by the local clock, which
 * never jumps. The servers' clocks are asked for nothing: one moment of a clock that is an hour ahead would keep rows
 * from being drained for an hour.
 *
 * @param since what a former watcher saw @default nothing: what is there came just now
 */
export function openArrivals(since: readonly Arrival[] = [], now: () => number = () => performance.now()): Arrivals {
  let looks: Look[] = since.map(([ago, id]) => ({ at: now() - ago, id }));

  return {
    note(last) {
      // Ids went back: a replica was promoted without the last rows, whose ids others have now.
      looks = looks.filter(({ id }) => id <= last);
      looks.push({ at: now(), id: last });
      if (looks.length > LOOKS) looks.splice(leastMissed(looks), 1);
    },
    idAt(ago) {
      const then = now() - ago;
      return looks.findLast(({ at }) => at <= then)?.id ?? 0;
    },
    ageOf(id) {
      const first = looks.find((look) => look.id >= id) ?? looks.at(-1);
      return first ? Math.max(0, now() - first.at) : 0;
    },
    sawComing: (id) => (looks[0]?.id ?? id) < id,
    saved: () => looks.map(({ at, id }) => [Math.round(now() - at), id] as const),
  };
}

/**
 * The look whose neighbours are nearest to each other for their age; never the first, which says how long somebody has
 * watched, nor the last.
 */
function leastMissed(looks: readonly Look[]): number {
  const now = looks.at(-1)?.at ?? 0;
  let [least, found] = [Number.POSITIVE_INFINITY, 1];
  for (let position = 1; position < looks.length - 1; position += 1) {
    const [before, after] = [looks[position - 1]?.at ?? 0, looks[position + 1]?.at ?? 0];
    const gap = (after - before) / Math.max(1, now - before);
    if (gap < least) [least, found] = [gap, position];
  }
  return found;
}
