import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { openBatch } from '../../shared/triggers/consume/batch.ts';
import type { QueueRecord } from '../../shared/triggers/consume/queue-record.ts';
import type { TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
import type { TriggerMessage } from '../../shared/triggers/state/message.ts';
import { CONSUMER_KEYS, readConfig } from '../environment/config.ts';
import { consumerOpener, type OpenedConsumer } from './open-consumer.ts';
import { consumedReport } from './report-consumed.ts';
import { sqsClient } from '../environment/sqs.ts';

export { PermanentFailure } from '../../shared/triggers/consume/permanent-failure.ts';
export type { TriggerCall, TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
export type { TriggeredClient } from '../../shared/triggers/consume/triggered-client.ts';
export type { TriggerMessage } from '../../shared/triggers/state/message.ts';

/** A Lambda handler of a trigger's queue. */
export interface TriggerHandler {
  (event: SQSEvent, lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>): Promise<SQSBatchResponse>;
  /** The name of the trigger. */
  readonly trigger: string;
  /** What it calls for each cell, for consumers elsewhere. */
  readonly fn: TriggerFunction;
}

/**
 * Makes a Lambda handler of what is to be done for each cell of a trigger.
 *
 * ```ts
 * export const handler = triggerHandler('bill_rider', async (rowKey, message, schemaless, { signal }) => {
 *   const { cell } = await schemaless.latest({ row_key: rowKey, column_name: 'STATUS' });
 *   …
 * });
 * ```
 *
 * @param name of the trigger, as in its definition
 * With a declared datastore its messages have their types: `triggerHandler<MessageOf<typeof trips, 'bill_rider'>>(…)`.
 *
 * @param typed throws to be called again for the same cell, or `PermanentFailure` to have it parked at once
 */
export function triggerHandler<Message extends TriggerMessage = TriggerMessage>(
  name: Message['trigger'],
  typed: TriggerFunction<Message>,
): TriggerHandler {
  // A trigger's queue carries its own messages alone.
  const fn = typed as TriggerFunction;
  const { report, flush } = consumedReport(name);
  let open: (() => Promise<OpenedConsumer>) | undefined;

  async function handler(
    event: SQSEvent,
    lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>,
  ): Promise<SQSBatchResponse> {
    open ??= consumerOpener({ config: readConfig(CONSUMER_KEYS), trigger: name, fn, sqs: sqsClient(), report });
    const { consumer } = await open();
    const records = new Map(event.Records.map((record) => [record.messageId, toQueueRecord(record)]));
    const batch = openBatch(consumer, [...records.values()], { remainingMs: () => lambda.getRemainingTimeInMillis() });
    const consume = async ({ messageId }: SQSRecord): Promise<void> => {
      const record = records.get(messageId);
      if (!record || (await batch.consume(record)) === 'back') throw new Error('it goes back to the queue');
    };
    try {
      return await processPartialResponse(event, consume, new SqsFifoPartialProcessorAsync(), {
        skipGroupOnError: true,
        throwOnFullBatchFailure: false,
      });
    } finally {
      await batch.end();
      flush(lambda.awsRequestId);
    }
  }
  return Object.assign(handler, { trigger: name, fn });
}

function toQueueRecord({ messageId, receiptHandle, body, attributes }: SQSRecord): QueueRecord {
  const { MessageGroupId = '', ApproximateReceiveCount, SentTimestamp } = attributes;
  return {
    messageId,
    receiptHandle,
    body,
    groupId: MessageGroupId,
    receipts: Number(ApproximateReceiveCount),
    sentAt: Number(SentTimestamp),
  };
}
