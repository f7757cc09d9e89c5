const NAME = 'PermanentFailure';

/**
 * Thrown by a trigger's function for a cell on which it will always fail: the cell is parked at once, without any
 * further attempt.
 *
 * ```ts
 * if (typeof fare !== 'number') throw new PermanentFailure(`fare: wanted a number, got ${typeof fare}`);
 * ```
 */
export class PermanentFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = NAME;
  }
}

/** By its name, since a function may come with a copy of the class in its own bundle. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
