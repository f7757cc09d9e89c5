/** A moment by two clocks, for what must not be used beyond some age. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

/** Now. */
export function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/**
 * Milliseconds since then, by the clock that says more: the steady one may stand still with an instance or a machine
 * that is suspended, and the wall's may be set back. One that is set ahead makes things older than they are, which
 * costs a look.
 */
export function ageOf({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}
