const NAME = 'PermanentFailure';

/**
 * Thrown by a trigger's function for a cell on which it will always fail: the cell is parked at once.
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

/** Compares the name, since a function may bundle its own copy of the class. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
