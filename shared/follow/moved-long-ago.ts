interface Moving {
  hasMoved(): boolean;
}

/**
 * Returns which partitions moved so long ago, counted from the call that first saw it: one that moves all the time is
 * written at that pace, however often this is asked. Those returned count as written.
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
