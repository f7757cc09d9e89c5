import { SchemalessError } from '../../errors.ts';

/** Runs a task, and throws `unavailable` if DynamoDB fails. */
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

/** Errors of the network may have a code and no message; aborts have a name. */
function describe(error: Error & { readonly code?: unknown }): string {
  const { cause } = error;
  const told = [error.message, error.code, cause instanceof Error ? cause.message : undefined].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return [error.name, ...(told === undefined ? [] : [told])].join(': ');
}

/** The SDK puts `$metadata` on all that it throws; a time limit comes as an abort. */
function isFromDynamo(error: unknown): error is Error {
  return (
    error instanceof Error && ('$metadata' in error || error.name === 'AbortError' || error.name === 'TimeoutError')
  );
}

/** Runs a task with a trigger's queues, and throws `unavailable` if SQS fails. */
export async function overQueue<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (cause instanceof SchemalessError) throw cause;
    throw new SchemalessError(
      'unavailable',
      `the queues of the trigger (SQS) did not answer: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`,
      { cause },
    );
  }
}
