/** A clock that passes only while something is so, as far as somebody looked. */
interface Stopwatch {
  /** Milliseconds that have passed. */
  readonly now: () => number;
  /** Whether it is so now. What lies between two looks has passed where it was so at both. */
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
