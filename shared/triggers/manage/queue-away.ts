import { SchemalessError } from '../../errors.ts';

/** Does something with a trigger's queues. Throws `unavailable` when SQS fails; it may be repeated then. */
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
