import { SchemalessError } from '../../errors.ts';

/**
 * Does something with the state table. Throws `unavailable` when it is DynamoDB that fails; it may be repeated then.
 */
export async function overState<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (!isFromDynamo(cause)) throw cause;
    throw new SchemalessError('unavailable', `the state table (DynamoDB) did not answer: ${describe(cause)}`, {
      cause,
    });
  }
}

/** What the network throws may have a code and no message; what was given up has a name. */
function describe(error: Error & { readonly code?: unknown }): string {
  const { cause } = error;
  const told = [error.message, error.code, cause instanceof Error ? cause.message : undefined].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return [error.name, ...(told === undefined ? [] : [told])].join(': ');
}

/** The SDK puts `$metadata` on all that it throws, what the network threw included; a time limit comes as an abort. */
function isFromDynamo(error: unknown): error is Error {
  return (
    error instanceof Error && ('$metadata' in error || error.name === 'AbortError' || error.name === 'TimeoutError')
  );
}
