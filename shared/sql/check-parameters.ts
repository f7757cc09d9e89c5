import type { SqlParameter } from './client.ts';

/**
 * Refuses every bound value that is not one of the types of `SqlParameter`. A driver that interpolates an array or an
 * object writes text of its own making into the statement, so none may get that far.
 */
export function checkParameters(parameters: readonly SqlParameter[]): void {
  for (let place = 0; place < parameters.length; place += 1) {
    const value = parameters[place];
    if (value === null || typeof value === 'string' || typeof value === 'bigint' || value instanceof Uint8Array)
      continue;
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    throw new TypeError(
      `bound value ${place}: wanted a string, finite number, bigint, bytes or null, got ${Array.isArray(value) ? 'an array' : typeof value} ${typeof value === 'number' ? value : ''}`,
    );
  }
}
