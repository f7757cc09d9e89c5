import { setTimeout as sleep } from 'node:timers/promises';
import { consumeBatch } from '../../../../../shared/triggers/consume/consume-batch.ts';
import { openConsumer, type ConsumeSettings } from '../../../../../shared/triggers/consume/consumer.ts';
import { sqsQueues } from '../../../../../shared/triggers/state/queues.ts';
import { triggerClients } from '../../../../../shared/triggers/consume/trigger-clients.ts';
import type { DeployedTrigger } from '../../../../../shared/topology/topology.ts';
import { triggerStore } from '../../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerMessage } from '../../../../../shared/triggers/state/trigger-store.ts';
import { receiveRecords, type LocalSqs } from '../../../../support/sqs.ts';
import type { FollowedStore } from '../../../follow/support/followed-store.ts';

export interface Consuming {
  readonly called: TriggerMessage[];
  stop(): Promise<void>;
}

export interface ConsumingOptions {
  readonly settings?: Partial<ConsumeSettings>;
  readonly fn?: (message: TriggerMessage) => unknown;
}

const running = new Set<Consuming>();

export async function stopConsuming(): Promise<void> {
  await Promise.all([...running].map((consumer) => consumer.stop()));
  running.clear();
}

export function startConsuming(
  sqs: LocalSqs,
  { stateTable, datastore }: FollowedStore,
  { definition, queueUrl }: DeployedTrigger,
  { settings, fn }: ConsumingOptions = {},
): Consuming {
  const called: TriggerMessage[] = [];
  const stopping = new AbortController();
  const queues = sqsQueues(sqs.client);
  const consumer = openConsumer({
    datastore,
    definition,
    store: triggerStore(stateTable, { datastore, trigger: definition.name }),
    queue: { setVisibility: (records, seconds) => queues.hide(queueUrl, records, seconds) },
    fn: async (_rowKey, message) => {
      await fn?.(message);
      called.push(message);
    },
    client: triggerClients({ url: 'http://127.0.0.1:9', datastore }),
    report: () => undefined,
    settings: { statusMs: 50, longestPauseSeconds: 0, consumedEveryMs: 100, ...settings },
  });
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      const records = await receiveRecords(sqs.client, queueUrl, 1);
      const done = await consumeBatch(consumer, records, { stopping: stopping.signal });
      await queues.remove(queueUrl, done);
      // Clock: it asks no more often than so.
      if (done.length < records.length) await sleep(20);
    }
  })();
  const consuming: Consuming = {
    called,
    async stop() {
      stopping.abort();
      await ended;
      await consumer.notes.flush();
    },
  };
  running.add(consuming);
  return consuming;
}
