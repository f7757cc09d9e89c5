import { SqlError } from './client.ts';

/** ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE */
const GONE = new Set([1049, 1146]);

/** Whether a server says that it has no table of the shard. */
export function isGone(error: unknown): error is SqlError {
  return error instanceof SqlError && error.failure === 'rejected' && GONE.has(error.errno);
}
