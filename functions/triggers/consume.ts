import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { CONSUMER_KEYS, readConfig } from '../environment/config.ts';
import type { MadeTrigger } from './open-consumer.ts';

export interface ConsumeOptions {
  /** @default that of the trigger's definition, else the environment variable SCHEMALESS_DATASTORE */
  readonly datastore?: string | undefined;
  /** The URL of the HTTP API. @default the environment variable SCHEMALESS_API_URL */
  readonly url?: string | undefined;
  /** Prints counts of consumed, failed and parked cells in CloudWatch's embedded metric format. @default false */
  readonly metrics?: boolean | undefined;
  /** Abort it to stop. @default SIGTERM and SIGINT (Ctrl-C) stop the consumer */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Consumes a trigger's queue in this process, one batch at a time, as its Lambda function would. Needs the package
 * `sqs-consumer` and the environment variables of the trigger's function, which `npx --no -- schemaless triggers environment`
 * prints.
 *
 * ```ts
 * await consume(triggerHandler('bill_rider', async (rowKey, message, schemaless) => { … }));
 * ```
 *
 * @returns after it is stopped and the current call has ended; other messages return to the queue
 * @throws an Error if an environment variable is missing or wrong, or the datastore has no such trigger
 */
export async function consume(
  made: MadeTrigger,
  { datastore, url, metrics = false, signal }: ConsumeOptions = {},
): Promise<void> {
  const config = readConfig(CONSUMER_KEYS, {
    [ENVIRONMENT_VARIABLES.datastore]: datastore ?? made.datastore,
    [ENVIRONMENT_VARIABLES.apiUrl]: url,
  });
  // Loaded late: a Lambda function polls no queue.
  const { runConsumer } = await import('./consumer-process.ts');
  await runConsumer({ ...made, config, metrics, stopping: signal ?? stopSignals() });
}

function stopSignals(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}
