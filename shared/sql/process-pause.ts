const TICK_MS = 250;
/** A tick this late means that the process was paused. */
const LATE_MS = 250;

export interface ProcessPause {
  /** Whether this process was paused since `begun`, by `performance.now()`: an answer may have come unnoticed. */
  since(begun: number): boolean;
}

interface ProcessPauseOptions {
  readonly wall?: () => number;
  readonly steady?: () => number;
}

/**
 * Notes when this process stands still: frozen, stopped, or kept from its event loop. A timeout then says nothing about
 * the server. Two clocks, since the steady one may stand still in a frozen instance, and the wall's may be set.
 */
export function watchProcessPauses({
  wall = () => Date.now(),
  steady = () => performance.now(),
}: ProcessPauseOptions = {}): ProcessPause {
  let [wallAt, steadyAt] = [wall(), steady()];
  let wokeAt = Number.NEGATIVE_INFINITY;

  function poll(): void {
    const [wallNow, steadyNow] = [wall(), steady()];
    if (Math.max(wallNow - wallAt, steadyNow - steadyAt) > TICK_MS + LATE_MS) wokeAt = steadyNow;
    [wallAt, steadyAt] = [wallNow, steadyNow];
  }

  setInterval(poll, TICK_MS).unref();
  return {
    since(begun) {
      // A timeout may fire before a tick that is just as overdue.
      poll();
      return wokeAt >= begun;
    },
  };
}

let own: ProcessPause | undefined;

export function ownProcessPause(): ProcessPause {
  own ??= watchProcessPauses();
  return own;
}
