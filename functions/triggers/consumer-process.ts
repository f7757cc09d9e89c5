import type { Message } from '@aws-sdk/client-sqs';
import { consumeBatch } from '../../shared/triggers/consume/consume-batch.ts';
import { BATCH_SIZE } from '../../shared/triggers/state/queue-limits.ts';
import { toQueueRecord } from '../../shared/triggers/consume/queue-record.ts';
import type { ConsumerConfig } from '../environment/config.ts';
import { logger } from '../environment/log.ts';
import { consumerOpener, type MadeTrigger } from './open-consumer.ts';
import { consumedReport } from './report-consumed.ts';
import { sqsClient } from '../environment/sqs.ts';

/** A stopping process waits for its current poll: an aborted one could leave messages hidden. */
const POLL_SECONDS = 5;

export interface ConsumerProcess extends MadeTrigger {
  readonly config: ConsumerConfig;
  /** Whether counts go to standard output. */
  readonly metrics: boolean;
  /** Abort it to stop: the current call ends, other messages return to the queue. */
  readonly stopping: AbortSignal;
}

/** Consumes a trigger's queue until it is stopped: see `consume`. */
export async function runConsumer({
  config,
  datastore,
  trigger,
  fn,
  atOnce,
  metrics,
  stopping,
}: ConsumerProcess): Promise<void> {
  const Polling = await polling();
  const sqs = sqsClient();
  const { report, flush } = consumedReport(trigger, metrics);
  const open = consumerOpener({ config, datastore, trigger, fn, atOnce, sqs, report });
  let { queueUrl } = (await open()).deployed;

  async function consume(from: string, messages: Message[]): Promise<Message[]> {
    const { consumer, deployed } = await open();
    // Messages of a replaced queue are ignored.
    if (deployed.queueUrl !== from) return [];
    const records = new Map(messages.map((message) => [toQueueRecord(message), message]));
    const done = new Set(await consumeBatch(consumer, [...records.keys()], { stopping }));
    flush();
    return [...records].filter(([record]) => done.has(record)).map(([, message]) => message);
  }

  /** Polls until it is stopped, or the trigger has another queue. */
  async function poll(from: string): Promise<void> {
    const poller = Polling.create({
      queueUrl: from,
      sqs,
      batchSize: BATCH_SIZE,
      waitTimeSeconds: POLL_SECONDS,
      messageSystemAttributeNames: ['MessageGroupId', 'ApproximateReceiveCount', 'SentTimestamp'],
      handleMessageBatch: (messages) => consume(from, messages),
      // It warns of lost order after failures. Here order is preserved: a failed message returns with all behind it.
      suppressFifoWarning: true,
      // For a batch that did not begin.
      terminateVisibilityTimeout: 30,
      pollingCompleteWaitTimeMs: 2 ** 31 - 1,
    });
    const stop = (): void => poller.stop();
    const poll = (): void => {
      open().then(
        ({ deployed }) => deployed.queueUrl !== from && stop(),
        (error: unknown) => logger.warn(`the definition of ${trigger} cannot be read`, { trigger, error }),
      );
    };
    // `once` of node:events would reject at the first error, although polling continues.
    const stopped = new Promise<void>((resolve) => void poller.once('stopped', () => resolve()));
    poller.on('error', (error) => logger.warn(`the queue of ${trigger} failed`, { trigger, error }));
    // A replaced queue may be empty or deleted.
    for (const end of ['response_processed', 'empty', 'error'] as const) poller.on(end, poll);
    stopping.addEventListener('abort', stop, { once: true });
    poller.start();
    await stopped;
    stopping.removeEventListener('abort', stop);
  }

  while (!stopping.aborted) {
    await poll(queueUrl);
    const { consumer, deployed } = await open();
    await consumer.notes.flush();
    ({ queueUrl } = deployed);
  }
  sqs.destroy();
}

/** Loads the package late: a Lambda bundle contains this file, but polls nothing and lacks the package. */
async function polling(): Promise<typeof import('sqs-consumer').Consumer> {
  try {
    return (await import('sqs-consumer')).Consumer;
  } catch (cause) {
    throw new Error('a consumer in a separate process: wanted the package sqs-consumer, got none that loads', {
      cause,
    });
  }
}
