import { SchemalessError } from '../errors.ts';

/** Does something with the state table. Throws `unavailable` when it is DynamoDB that fails; it may be repeated then. */
export async function overState<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (!isFromDynamo(cause)) throw cause;
    throw new SchemalessError('unavailable', `the state table did not answer: ${cause.name}`, { cause });
  }
}

/** The SDK puts `$metadata` on all that it throws, what the network threw included; a time limit comes as an abort. */
function isFromDynamo(error: unknown): error is Error {
  return error instanceof Error && ('$metadata' in error || error.name === 'AbortError' || error.name === 'TimeoutError');
}
