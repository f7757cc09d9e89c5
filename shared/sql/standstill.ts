/** How often this process notes that it is awake. */
const TICK_MS = 250;
/** So much later than due, it stood still meanwhile. */
const LATE_MS = 250;

export interface Standstill {
  /**
   * Whether this process stood still at some time since `begun`: what it waited for may have come in time, and nobody
   * was there to see it. Cheap, but not for every statement.
   *
   * @param begun of `performance.now()`
   */
  since(begun: number): boolean;
}

/** Clocks and timers, to be stood in for by tests. */
interface StandstillOptions {
  /** @default Date.now */
  readonly wall?: () => number;
  /** @default performance.now */
  readonly steady?: () => number;
}

/**
 * Notes when this process stands still: frozen between two requests, stopped by a signal, or kept from its event loop
 * by work of its own or by a machine that is too busy. A time limit that passes then says nothing of who did not
 * answer.
 *
 * Two clocks are asked, since the steady one may stand still with an instance that is frozen, and the wall's may be
 * set.
 */
export function watchStandstill({
  wall = () => Date.now(),
  steady = () => performance.now(),
}: StandstillOptions = {}): Standstill {
  let [wallAt, steadyAt] = [wall(), steady()];
  let wokeAt = Number.NEGATIVE_INFINITY;

  function look(): void {
    const [wallNow, steadyNow] = [wall(), steady()];
    if (Math.max(wallNow - wallAt, steadyNow - steadyAt) > TICK_MS + LATE_MS) wokeAt = steadyNow;
    [wallAt, steadyAt] = [wallNow, steadyNow];
  }

  setInterval(look, TICK_MS).unref();
  return {
    since(begun) {
      // A time limit may fire before the tick that is just as overdue.
      look();
      return wokeAt >= begun;
    },
  };
}

let own: Standstill | undefined;

/** That of this thread, watched from when it is first asked for. */
export function ownStandstill(): Standstill {
  own ??= watchStandstill();
  return own;
}
