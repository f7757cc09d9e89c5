/** Ctrl-C: the first ends the work in order, the second at once. */
interface Interrupt {
  /** Comes with the first. */
  readonly signal: AbortSignal;
  /** Comes with the second: requests under way are given up. */
  readonly afterwards: AbortSignal;
  /** Listens no more. */
  end(): void;
}

/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_MS = 500;

export function untilInterrupted(): Interrupt {
  const [first, second] = [new AbortController(), new AbortController()];
  let at = 0;
  const heard = (): void => {
    if (!first.signal.aborted) {
      at = performance.now();
      first.abort();
    } else if (performance.now() - at > SAME_MS) second.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, heard);
  return {
    signal: first.signal,
    afterwards: second.signal,
    end() {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, heard);
    },
  };
}
