import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import { consumeBatch } from '../../../../../shared/triggers/consume/consume-batch.ts';
import {
  openConsumer,
  type ConsumeEvent,
  type ConsumeSettings,
} from '../../../../../shared/triggers/consume/consumer.ts';
import { sqsQueues } from '../../../../../shared/triggers/state/queues.ts';
import { triggeredClients } from '../../../../../shared/triggers/consume/triggered-client.ts';
import type { DeployedTrigger } from '../../../../../shared/topology/topology.ts';
import { triggerStore } from '../../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerMessage } from '../../../../../shared/triggers/state/trigger-store.ts';
import { receiveRecords, type LocalSqs } from '../../../../support/sqs.ts';
import type { FollowedStore } from '../../../follow/support/followed-store.ts';

export interface Consuming {
  readonly called: TriggerMessage[];
  readonly events: ConsumeEvent[];
  stop(): Promise<void>;
}

export interface ConsumingOptions {
  readonly settings?: Partial<ConsumeSettings>;
  readonly fn?: (message: TriggerMessage) => unknown;
}

export function startConsuming(
  sqs: LocalSqs,
  { stateTable, datastore }: FollowedStore,
  { definition, queueUrl }: DeployedTrigger,
  { settings, fn }: ConsumingOptions = {},
): Consuming {
  const [called, events]: [TriggerMessage[], ConsumeEvent[]] = [[], []];
  const stopping = new AbortController();
  const consumer = openConsumer({
    datastore,
    definition,
    store: triggerStore(stateTable, { datastore, trigger: definition.name }),
    queue: { setVisibility: (records, seconds) => sqsQueues(sqs.client).hide(queueUrl, records, seconds) },
    fn: async (_rowKey, message) => {
      await fn?.(message);
      called.push(message);
    },
    client: triggeredClients({ url: 'http://127.0.0.1:9', datastore }),
    report: (event) => void events.push(event),
    settings: { statusMs: 50, longestPauseSeconds: 0, consumedEveryMs: 100, ...settings },
  });
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      const records = await receiveRecords(sqs.client, queueUrl, 1);
      const done = await consumeBatch(consumer, records, { stopping: stopping.signal });
      if (done.length > 0)
        await sqs.client.send(
          new DeleteMessageBatchCommand({
            QueueUrl: queueUrl,
            Entries: done.map(({ receiptHandle }, item) => ({ Id: String(item), ReceiptHandle: receiptHandle })),
          }),
        );
      // Clock: it asks no more often than so.
      if (done.length < records.length) await sleep(20);
    }
  })();
  return {
    called,
    events,
    async stop() {
      stopping.abort();
      await ended;
      await consumer.notes.flush();
    },
  };
}
