/** A process that consumes a trigger's queue, as its function does, until it is ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { consumeBatch } from '../../../shared/triggers/consume/consume-batch.ts';
import { openConsumer, type Consumer } from '../../../shared/triggers/consume/consumer.ts';
import { toQueueRecord } from '../../../shared/triggers/consume/queue-record.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { triggerClients } from '../../../shared/triggers/consume/trigger-clients.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerMessage } from '../../../shared/triggers/state/trigger-store.ts';
import { Random } from '../../support/random.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { noteLines } from '../line-log.ts';
import { cellName, type ConsumerVariation, type Delivery } from './deliveries.ts';
import { openTriggered, type TriggeredAccess, type TriggeredStore } from '../../support/triggers/triggered-access.ts';

export interface ConsumerInput {
  readonly access: TriggeredAccess;
  readonly variation: ConsumerVariation;
  readonly deliveries: string;
  readonly seed: string;
}

export interface ConsumerProgress {
  readonly calls: number;
  readonly failed: number;
}

const HOLD = { holdSeconds: 10, holdEveryMs: 2500 };
/** Five failures in a row would hide a cell for sixteen seconds: about as long as a run waits for the end. */
const LONGEST_BACKOFF_SECONDS = 4;
const POLLERS = 6;
const WAIT_SECONDS = 1;
const UNAVAILABLE_PAUSE_MS = 200;
const SAY_MS = 100;

await runAsProcess<ConsumerInput, ConsumerProgress>(async ({ access, variation, deliveries: file, seed }, control) => {
  await using store = await openTriggered(access);
  using deliveries = noteLines<Delivery>(file);
  const deployed = (await store.context.topology.triggers(access.datastore)).find(
    ({ definition }) => definition.name === access.trigger,
  );
  if (!deployed) throw new Error(`no trigger ${access.trigger}`);
  const random = new Random(seed, 'failing calls', process.pid);
  const progress = { calls: 0, failed: 0 };

  const fn = async (_rowKey: string, message: TriggerMessage): Promise<void> => {
    progress.calls += 1;
    if (random.chance(variation.failing)) {
      progress.failed += 1;
      if (variation.forgets) return;
      throw new Error('the card service does not answer');
    }
    const { shard, added_id, replay } = message;
    deliveries.note({ shard, added_id, cell: cellName(message), replay, at: Date.now() });
  };
  const consumer = openConsumer({
    datastore: access.datastore,
    definition: deployed.definition,
    store: triggerStore(store.stateTable, { datastore: access.datastore, trigger: access.trigger }),
    queue: {
      setVisibility: (records, seconds) => sqsQueues(store.sqs).hide(access.queueUrl, records, seconds),
    },
    fn,
    client: triggerClients({ url: 'http://127.0.0.1:9', datastore: access.datastore }),
    // A batch whose deletion SQS did not answer comes again after this time, before a run stops waiting for more.
    settings: { ...HOLD, longestBackoffSeconds: LONGEST_BACKOFF_SECONDS },
    report: () => undefined,
  });
  control.ready();
  const saying = setInterval(() => void control.say(progress), SAY_MS);
  await Promise.all(Array.from({ length: POLLERS }, () => poll(consumer, store, access.queueUrl, control.signal)));
  clearInterval(saying);
  await control.say(progress);
});

async function poll(consumer: Consumer, { sqs }: TriggeredStore, queueUrl: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const receive = new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: WAIT_SECONDS,
        MessageSystemAttributeNames: ['ApproximateReceiveCount', 'MessageGroupId', 'SentTimestamp'],
      });
      const { Messages = [] } = await sqs.send(receive, {
        abortSignal: AbortSignal.timeout((WAIT_SECONDS + 5) * 1000),
      });
      if (Messages.length === 0) continue;
      const done = await consumeBatch(consumer, Messages.map(toQueueRecord), { stopping: signal });
      if (done.length === 0) continue;
      const entries = done.map(({ receiptHandle }, position) => ({
        Id: String(position),
        ReceiptHandle: receiptHandle,
      }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }), {
        abortSignal: AbortSignal.timeout(5000),
      });
    } catch {
      // The queue is unavailable: cells that were consumed and not deleted come again.
      await sleep(UNAVAILABLE_PAUSE_MS);
    }
  }
}
