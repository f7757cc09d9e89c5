import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { DatastoreDefinition, MessageOf, TriggerOf } from '../../shared/client/datastore-definition.ts';
import { overClient, type OpenedDatastore } from '../../shared/client/open-datastore.ts';
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
export type { TriggerMessage } from '../../shared/triggers/state/trigger-store.ts';

/** Calls the function for the messages of a batch. */
export type SqsHandler = (
  event: SQSEvent,
  lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>,
) => Promise<SQSBatchResponse>;

export type TriggerHandler = SqsHandler & MadeTrigger;

export interface TriggerHandlerOptions {
  /**
   * The parallel calls for the cells of a batch, which has ten: in order within a row, in any order for different rows
   * of a shard. They share HTTP requests. If a cell fails, all later cells of its shard come again, also those that
   * were called. @default 1: one after another, in the order of the shard's log
   */
  readonly atOnce?: number;
}

/**
 * Makes a Lambda handler that calls a function for each cell of a trigger. A function that throws is called again for
 * the same cell; one that throws `PermanentFailure` has it parked at once.
 *
 * ```ts
 * export const handler = triggerHandler(trips, 'bill_rider', async (rowKey, message, store, { signal }) => {
 *   const { cell } = await store.getLatest({ row_key: rowKey, column_name: 'STATUS' });
 *   …
 * });
 * ```
 *
 * Without a definition, `triggerHandler('bill_rider', …)`, the store is a client.
 *
 * @throws a TypeError if `atOnce` is not an integer from 1 to 10, or the definition lacks the trigger
 */
export function triggerHandler<const D extends DatastoreDefinition, Trigger extends TriggerOf<D>>(
  definition: D,
  name: Trigger,
  fn: TriggerFunction<MessageOf<D, Trigger>, OpenedDatastore<D>>,
  options?: TriggerHandlerOptions,
): TriggerHandler;
export function triggerHandler(name: string, fn: TriggerFunction, options?: TriggerHandlerOptions): TriggerHandler;
export function triggerHandler(...given: readonly unknown[]): TriggerHandler {
  if (typeof given[0] === 'string') {
    const [name, fn, options] = given as [string, TriggerFunction, TriggerHandlerOptions?];
    return handlerOf(name, fn, options);
  }
  const [definition, name, fn, options] = given as [DatastoreDefinition, string, TypedFunction, TriggerHandlerOptions?];
  const names = Object.keys(definition.triggers ?? {});
  if (!names.includes(name))
    throw new TypeError(
      `trigger: wanted one of the definition of ${definition.name} (${names.join(', ')}), got ${name}`,
    );
  const untyped: TriggerFunction = (rowKey, message, client, call) =>
    fn(rowKey, message, overClient(definition, client), call);
  return handlerOf(name, untyped, { ...options, datastore: definition.name });
}

/** A trigger's queue has only its own messages. */
type TypedFunction = TriggerFunction<TriggerMessage, OpenedDatastore<DatastoreDefinition>>;

function handlerOf(
  name: string,
  fn: TriggerFunction,
  { atOnce = 1, datastore }: TriggerHandlerOptions & Pick<MadeTrigger, 'datastore'> = {},
): TriggerHandler {
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > BATCH_SIZE)
    throw new TypeError(`atOnce: wanted a whole number from 1 to ${BATCH_SIZE}, got ${String(atOnce)}`);
  const { report, flush } = consumedReport(name);
  let open: (() => Promise<OpenedConsumer>) | undefined;

  const handler: SqsHandler = async (event, lambda) => {
    open ??= consumerOpener({
      config: readConfig(CONSUMER_KEYS),
      datastore,
      trigger: name,
      fn,
      atOnce,
      sqs: sqsClient(),
      report,
    });
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
  return Object.assign(handler, { datastore, trigger: name, fn, atOnce });
}

function ofEvent({ messageId, receiptHandle, body, attributes }: SQSRecord): QueueRecord {
  const { MessageGroupId = '', ApproximateReceiveCount, SentTimestamp } = attributes;
  const Attributes = { MessageGroupId, ApproximateReceiveCount, SentTimestamp };
  return toQueueRecord({ MessageId: messageId, ReceiptHandle: receiptHandle, Body: body, Attributes });
}
