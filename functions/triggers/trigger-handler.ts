import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { consumeBatch } from '../../shared/triggers/consume/consume-batch.ts';
import { toQueueRecord, type QueueRecord } from '../../shared/triggers/consume/queue-record.ts';
import type { TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
import { BATCH_SIZE } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerMessage } from '../../shared/triggers/state/trigger-store.ts';
import { CONSUMER_KEYS, readConfig } from '../environment/config.ts';
import { consumerOpener, type MadeTrigger, type OpenedConsumer } from './open-consumer.ts';
import { consumedReport } from './report-consumed.ts';
import { sqsClient } from '../environment/sqs.ts';

export { PermanentFailure } from '../../shared/triggers/consume/permanent-failure.ts';
export type { TriggerCall, TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
export type { TriggeredClient } from '../../shared/triggers/consume/triggered-client.ts';
export type { TriggerMessage } from '../../shared/triggers/state/trigger-store.ts';

/** Calls the function for the messages of a batch. */
export type SqsHandler = (
  event: SQSEvent,
  lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>,
) => Promise<SQSBatchResponse>;

export type TriggerHandler = SqsHandler & MadeTrigger;

export interface TriggerHandlerOptions {
  /**
   * Parallel calls for the cells of a batch, which has ten: those of a row in order, those of different rows of a shard
   * in any order. They share HTTP requests. If a cell fails, those behind it in its shard come again, also those that
   * were called. @default 1: one after another, in the order of the shard's log
   */
  readonly atOnce?: number;
}

/**
 * Makes a Lambda handler from a function that is called for each cell of a trigger.
 *
 * ```ts
 * export const handler = triggerHandler('bill_rider', async (rowKey, message, schemaless, { signal }) => {
 *   const { cell } = await schemaless.latest({ row_key: rowKey, column_name: 'STATUS' });
 *   …
 * });
 * ```
 *
 * With a declared datastore its messages have their types: `triggerHandler<MessageOf<typeof trips, 'bill_rider'>>(…)`.
 *
 * @param typed throws to be called again for the same cell, or `PermanentFailure` to have it parked at once
 * @throws a TypeError if `atOnce` is not an integer from 1 to 10
 */
export function triggerHandler<Message extends TriggerMessage = TriggerMessage>(
  name: Message['trigger'],
  typed: TriggerFunction<Message>,
  { atOnce = 1 }: TriggerHandlerOptions = {},
): TriggerHandler {
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > BATCH_SIZE)
    throw new TypeError(`atOnce: wanted a whole number from 1 to ${BATCH_SIZE}, got ${String(atOnce)}`);
  // A trigger's queue carries its own messages alone.
  const fn = typed as TriggerFunction;
  const { report, flush } = consumedReport(name);
  let open: (() => Promise<OpenedConsumer>) | undefined;

  const handler: SqsHandler = async (event, lambda) => {
    open ??= consumerOpener({ config: readConfig(CONSUMER_KEYS), trigger: name, fn, atOnce, sqs: sqsClient(), report });
    const { consumer } = await open();
    try {
      const remainingMs = (): number => lambda.getRemainingTimeInMillis();
      const done = await consumeBatch(consumer, event.Records.map(ofEvent), { remainingMs });
      const left = new Set(event.Records.map(({ messageId }) => messageId));
      for (const { messageId } of done) left.delete(messageId);
      return { batchItemFailures: [...left].map((itemIdentifier) => ({ itemIdentifier })) };
    } finally {
      flush(lambda.awsRequestId);
    }
  };
  return Object.assign(handler, { trigger: name, fn, atOnce });
}

function ofEvent({ messageId, receiptHandle, body, attributes }: SQSRecord): QueueRecord {
  const { MessageGroupId = '', ApproximateReceiveCount, SentTimestamp } = attributes;
  const Attributes = { MessageGroupId, ApproximateReceiveCount, SentTimestamp };
  return toQueueRecord({ MessageId: messageId, ReceiptHandle: receiptHandle, Body: body, Attributes });
}
