import { DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { consumeBatch } from '../../../../shared/triggers/consume/consume-batch.ts';
import { openConsumer } from '../../../../shared/triggers/consume/consumer.ts';
import { triggeredClients } from '../../../../shared/triggers/consume/triggered-client.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import type { TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { sqsQueues } from '../../../../shared/triggers/state/queues.ts';
import { receiveRecords } from '../../../support/sqs.ts';
import { until } from '../../../support/until.ts';
import { sharedTailing, startTailer, type TailedStore } from './support/tailed-store.ts';

const DAYS = 4;
/** A run of `tail-shards` is succeeded after a minute. */
const STEPS_A_RUN = 6;
const STEP_MS = 10_000;
const RUNS_AT_ONCE = 3;
const HOUR = 3_600_000;

const { sqs, open } = await sharedTailing(1);
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const pass = (milliseconds: number): void => void vi.setSystemTime(new Date().getTime() + milliseconds);

/** A table in which nothing is kept of a queue that was found empty: each run begins with what it sees. */
function forgetful({ client, table }: DynamoTable): DynamoTable {
  const forgets = Object.create(client) as typeof client;
  forgets.send = (async (command: { readonly input: object }, ...options: []) => {
    const isEmptied = JSON.stringify(Object(command.input).Key ?? '').includes('#emptied');
    return isEmptied ? {} : client.send(command as Parameters<typeof client.send>[0], ...options);
  }) as typeof client.send;
  return { client: forgets, table };
}

/** Consumes what is there by an instance that is frozen behind its answer, and reaped. */
async function consumeOnce(tailed: TailedStore, store: TriggerStore, called: number[]): Promise<void> {
  const { definition, queueUrl } = tailed.trigger('bill_rider').deployed;
  const queues = sqsQueues(sqs.client);
  const consumer = openConsumer({
    datastore: tailed.datastore,
    definition,
    store,
    // What goes back does so at once: the queue has a clock of its own.
    queue: { setVisibility: (records, seconds) => queues.hide(queueUrl, records, seconds > 60 ? seconds : 0) },
    fn: (_rowKey, { added_id }) => void called.push(added_id),
    client: triggeredClients({ url: 'http://127.0.0.1:9', datastore: tailed.datastore }),
    report: () => undefined,
  });
  const records = (await receiveRecords(sqs.client, queueUrl, 0)).map((one) => ({
    ...one,
    sentAt: new Date().getTime(),
  }));
  const done = await consumeBatch(consumer, records);
  const Entries = done.map(({ receiptHandle }, item) => ({ Id: String(item), ReceiptHandle: receiptHandle }));
  if (done.length > 0) await sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
}

async function fourDays(isProtected: boolean): Promise<readonly number[]> {
  const tailed = await open([{ name: 'bill_rider', function: 'functions/examples/bill-rider.ts' }]);
  const { deployed, store } = tailed.trigger('bill_rider');
  const consumed = { ...store.consumed, raise: async () => undefined };
  const called: number[] = [];

  async function runs(count: number): Promise<void> {
    for (let begun = 0; begun < count; begun += 1) {
      let looks = 0;
      const tailer = startTailer(sqs, isProtected ? tailed : { ...tailed, stateTable: forgetful(tailed.stateTable) }, {
        settings: { lookMs: 10, depthEveryMs: 10 },
        wrapQueues: (queues) => ({ ...queues, depth: async (url) => queues.depth(url).finally(() => (looks += 1)) }),
      });
      for (let step = 0; step < STEPS_A_RUN; step += 1) {
        const before = looks;
        await until('the queue is looked at', () => looks > before + 3);
        await consumeOnce(tailed, isProtected ? store : { ...store, consumed }, called);
        pass(STEP_MS);
      }
      await tailer.stop();
    }
  }

  for (let day = 1; day <= DAYS; day += 1) {
    await tailed.write(0, 1);
    await runs(RUNS_AT_ONCE);
    pass(12 * HOUR);
    await runs(RUNS_AT_ONCE);
    pass(12 * HOUR);
  }
  expect((await store.status()).queue_url).toBe(deployed.queueUrl);
  return called;
}

it('a trigger with a cell a day calls its function once for each, although no process lives longer than a minute', async () => {
  const called = await fourDays(true);
  expect(called).toEqual([1, 2, 3, 4]);
  // Where each process keeps what it knows to itself.
  expect(await fourDays(false)).toEqual([1, 1, 2, 1, 2, 3, 1, 2, 3, 4]);
});
