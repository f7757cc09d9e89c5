import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { CONSUMER_KEYS, readConfig } from '../environment/config.ts';
import type { MadeTrigger } from './open-consumer.ts';

export interface ConsumeOptions {
  /** @default the environment variable SCHEMALESS_DATASTORE */
  readonly datastore?: string | undefined;
  /** Of the HTTP API. @default the environment variable SCHEMALESS_API_URL */
  readonly url?: string | undefined;
  /** Prints counts of consumed, failed and parked cells on standard output, in CloudWatch's embedded metric format. @default false */
  readonly metrics?: boolean | undefined;
  /** Aborted to stop. @default SIGTERM and SIGINT (Ctrl-C) stop it */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Consumes a trigger's queue in this process, one batch at a time, as its Lambda function would. Needs the package
 * `sqs-consumer` and the environment variables of the trigger's function, which the local stack prints by
 * `npm run consume -- --print-environment`.
 *
 * ```ts
 * await consume(triggerHandler('bill_rider', async (rowKey, message, schemaless) => { … }));
 * ```
 *
 * @returns once it is stopped and the call under way has ended; the other messages go back to the queue
 * @throws an Error if an environment variable is missing or wrong, or the datastore has no such trigger
 */
export async function consume(
  { trigger, fn, atOnce }: MadeTrigger,
  { datastore, url, metrics = false, signal }: ConsumeOptions = {},
): Promise<void> {
  const config = readConfig(CONSUMER_KEYS, {
    [ENVIRONMENT_VARIABLES.datastore]: datastore,
    [ENVIRONMENT_VARIABLES.apiUrl]: url,
  });
  // Loaded late: a Lambda function polls no queue.
  const { runConsumer } = await import('./consumer-process.ts');
  await runConsumer({ config, trigger, fn, atOnce, metrics, stopping: signal ?? stopSignals() });
}

function stopSignals(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}
