/** Counts only the time in which something held at two looks in a row. */
interface Stopwatch {
  readonly now: () => number;
  pass(isSo: boolean): void;
}

export function openStopwatch(clock: () => number = () => performance.now()): Stopwatch {
  let passed = 0;
  let since: number | undefined;
  return {
    now: () => passed,
    pass(isSo) {
      const at = clock();
      if (isSo && since !== undefined) passed += at - since;
      since = isSo ? at : undefined;
    },
  };
}
