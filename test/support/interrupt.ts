/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_SIGNAL_MS = 500;

/**
 * Returns a signal that Ctrl-C aborts, so that a run can stop its servers.
 *
 * @param end called when it is pressed again: the process exits right after
 */
export function onInterrupt(end: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // Clock: tells one Ctrl-C that arrives twice from two.
      const now = performance.now();
      if (!controller.signal.aborted) {
        firstAt = now;
        console.log('stopping (Ctrl-C again to force it)');
        controller.abort(new Error(`stopped by ${name}`));
      } else if (now - firstAt > SAME_SIGNAL_MS) {
        end();
        process.exit(130);
      }
    });
  }
  return controller.signal;
}
