/** What may have moved since it was last written, as a partition may have. */
interface Moving {
  hasMoved(): boolean;
}

/**
 * Which of some were first seen so long ago to have moved, since they were told last: so that what moves all the time is
 * written at that pace, however often it is looked.
 *
 * @returns tells them, and takes it that they are written now: one that is not, or that moves meanwhile, has its time
 *   from the next look on
 */
export function movedLongAgo<T extends Moving>(now: () => number): (all: readonly T[], afterMs: number) => T[] {
  let since: ReadonlyMap<T, number> = new Map();
  return (all, afterMs) => {
    const time = now();
    const [due, left]: [T[], Map<T, number>] = [[], new Map()];
    for (const one of all) {
      if (!one.hasMoved()) continue;
      const at = since.get(one) ?? time;
      if (time - at >= afterMs) due.push(one);
      else left.set(one, at);
    }
    since = left;
    return due;
  };
}
