import { SqlError } from './client.ts';

/** MySQL's errors for a database, and a table, that there is not. */
const GONE = new Set([1049, 1146]);

/** A shard is not where it was looked for, or not any more: a server says so of its table. */
export function isGone(error: unknown): error is SqlError {
  return error instanceof SqlError && error.failure === 'rejected' && GONE.has(error.errno);
}
