import type { Message } from '@aws-sdk/client-sqs';
import { consumeBatch } from '../../shared/triggers/consume/consume-batch.ts';
import { BATCH_SIZE } from '../../shared/triggers/state/queue-limits.ts';
import { toQueueRecord } from '../../shared/triggers/consume/queue-record.ts';
import type { ConsumerConfig } from '../environment/config.ts';
import { logger } from '../environment/log.ts';
import { consumerOpener, type MadeTrigger } from './open-consumer.ts';
import { consumedReport } from './report-consumed.ts';
import { sqsClient } from '../environment/sqs.ts';

/** A stopping process waits for the poll under way: an aborted one could keep messages hidden. */
const POLL_SECONDS = 5;

export interface ConsumerProcess extends MadeTrigger {
  readonly config: ConsumerConfig;
  /** Counts go to standard output. */
  readonly metrics: boolean;
  /** Aborted to stop: the call under way ends, the other messages go back to the queue. */
  readonly stopping: AbortSignal;
}

/** Consumes a trigger's queue until it is stopped: see `consume`. */
export async function runConsumer({ config, trigger, fn, atOnce, metrics, stopping }: ConsumerProcess): Promise<void> {
  const Polling = await polling();
  const sqs = sqsClient();
  const { report, flush } = consumedReport(trigger, metrics);
  const open = consumerOpener({ config, trigger, fn, atOnce, sqs, report });
  let { queueUrl } = (await open()).deployed;

  async function consume(from: string, messages: Message[]): Promise<Message[]> {
    const { consumer, deployed } = await open();
    // Messages of a queue that was replaced are void.
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
      // The warning is about order after failures, which is kept here: a failed message takes those behind it back.
      suppressFifoWarning: true,
      // For a batch that could not begin.
      terminateVisibilityTimeout: 30,
      pollingCompleteWaitTimeMs: 2 ** 31 - 1,
    });
    const stop = (): void => poller.stop();
    const look = (): void => {
      open().then(
        ({ deployed }) => deployed.queueUrl !== from && stop(),
        (error: unknown) => logger.warn('trigger', { trigger, error }),
      );
    };
    // `once` of node:events would fail with the first error, although polling goes on.
    const stopped = new Promise<void>((resolve) => void poller.once('stopped', () => resolve()));
    poller.on('error', (error) => logger.warn('queue', { trigger, error }));
    // A queue that was replaced may be empty, or gone.
    for (const end of ['response_processed', 'empty', 'error'] as const) poller.on(end, look);
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

/** Loads the package here alone: a Lambda bundle has this file, polls nothing, and goes without that package. */
async function polling(): Promise<typeof import('sqs-consumer').Consumer> {
  try {
    return (await import('sqs-consumer')).Consumer;
  } catch (cause) {
    throw new Error('a consumer in a process of its own: wanted the package sqs-consumer, got none that loads', {
      cause,
    });
  }
}
