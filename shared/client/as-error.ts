import { SchemalessError } from '../errors.ts';

export function asError(thrown: unknown, message: string): SchemalessError {
  if (thrown instanceof SchemalessError) return thrown;
  return new SchemalessError('unavailable', `${message}: ${String(thrown)}`, { cause: thrown });
}
