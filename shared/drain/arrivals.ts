/** A table's highest id, and how many ms ago that was. */
export type Arrival = readonly [ago: number, id: number];

export type Arrivals = ReturnType<typeof openArrivals>;

interface Look {
  readonly at: number;
  readonly id: number;
}

const LOOKS = 64;

/** Tells the age of rows from earlier polls and the local steady clock: a server's clock may be an hour ahead. */
export function openArrivals(since: readonly Arrival[] = [], now: () => number = () => performance.now()) {
  let looks: Look[] = since.map(([ago, id]) => ({ at: now() - ago, id }));

  return {
    note(last: number): void {
      // A replica was promoted without the last rows, whose ids others have now.
      looks = looks.filter(({ id }) => id <= last);
      looks.push({ at: now(), id: last });
      if (looks.length > LOOKS) looks.splice(leastMissed(looks), 1);
    },
    /** Returns the highest id so many ms ago; 0 if nothing looked then. */
    idAt(ago: number): number {
      const then = now() - ago;
      return looks.findLast(({ at }) => at <= then)?.id ?? 0;
    },
    /** Returns ms since the id was first seen, or since the first look. */
    ageOf(id: number): number {
      const first = looks.find((look) => look.id >= id) ?? looks.at(-1);
      return first ? Math.max(0, now() - first.at) : 0;
    },
    sawComing: (id: number): boolean => (looks[0]?.id ?? id) < id,
    saved: (): readonly Arrival[] => looks.map(({ at, id }) => [Math.round(now() - at), id] as const),
  };
}

/** Returns the look whose neighbours are nearest for their age; never the first or the last. */
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

/** Counts only the time in which something held at two looks in a row. */
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
