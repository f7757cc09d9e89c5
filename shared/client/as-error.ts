import { SchemalessError } from '../errors.ts';

/** What was thrown, as an error of the datastore: anything else has nothing to do with what was asked. */
export function asError(thrown: unknown, message: string): SchemalessError {
  if (thrown instanceof SchemalessError) return thrown;
  return new SchemalessError('unavailable', `${message}: ${String(thrown)}`, { cause: thrown });
}
