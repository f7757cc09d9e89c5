import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { TriggerStart } from '../../../../shared/definitions/definitions.ts';
import { triggerFollower } from '../../../../shared/triggers/state/trigger-items.ts';
import { sqsQueues } from '../../../../shared/triggers/state/queues.ts';
import { entityTable } from '../../../../shared/sql/names.ts';
import { select } from '../../../support/plain-sql.ts';
import { startConsuming } from './support/consuming.ts';
import { followEvents, sharedTailing, startTailer, type TailedStore } from './support/tailed-store.ts';
import { until } from '../../../support/until.ts';

const NAME = 'bill_rider';
const SHARD = 1;
const { sqs, open: openTriggers } = await sharedTailing(2);
let tailed: TailedStore;

async function open(start: TriggerStart): Promise<void> {
  tailed = await openTriggers([{ name: NAME, function: 'functions/examples/bill-rider.ts', start }]);
}

async function refKeys(): Promise<readonly number[]> {
  const keys = `SELECT ref_key FROM ${entityTable(tailed.datastore, SHARD)} ORDER BY added_id`;
  const rows = await select(tailed.clientOf(SHARD), keys);
  return rows.map(([key]) => Number(key));
}

describe('a trigger whose log was cut', () => {
  it('loses no cell that reuses an added id when its queue is lost after that: another cell was consumed under that id', async () => {
    await open('start');
    const { deployed, store } = tailed.trigger(NAME);
    const queues = sqsQueues(sqs.client);
    const operations = await tailed.operations();
    const depth = () => queues.depth(deployed.queueUrl);
    const tailer = startTailer(sqs, tailed);
    await tailed.write(SHARD, 30);
    await until('the cells are on the queue', async () => (await depth()) === 30);
    const before = new Set(await refKeys());
    await tailed.cutAfter(SHARD, 10);
    await until('the cut is noticed', () => followEvents(tailer, 'cut').length > 0);
    await tailed.write(SHARD, 30);
    await until('the cells that took their added ids are behind them', async () => (await depth()) >= 60);

    // The consumer comes as far as the end of the log that is gone.
    const first = startConsuming(sqs, tailed, deployed, {
      fn: ({ ref_key }) => {
        if (!before.has(ref_key)) throw new Error('the card service is down');
      },
    });
    await until('what was cut off is consumed', () => first.called.some(({ added_id }) => added_id === 30));
    await until('it fails on the first of the others', async () =>
      (await store.shards([SHARD])).some(({ cells }) => cells.length > 0),
    );
    await first.stop();
    await operations.pauseTrigger({ trigger: NAME });
    await sqs.client.send(new PurgeQueueCommand({ QueueUrl: deployed.queueUrl }));
    await until('the queue is lost', async () => (await depth()) === 0);

    const second = startConsuming(sqs, tailed, deployed);
    await operations.resumeTrigger({ trigger: NAME });
    const called = () => new Set([...first.called, ...second.called].map(({ ref_key }) => ref_key));
    await until('the last cell is called for', async () => called().has((await refKeys()).at(-1) ?? 0));
    expect((await refKeys()).filter((key) => !called().has(key))).toEqual([]);
  });

  it('that began at the end of its log gets every cell that reused an added id while it was halted, also before its beginning', async () => {
    await open('now');
    await tailed.write(SHARD, 10);
    const { deployed, store } = tailed.trigger(NAME);
    const queues = sqsQueues(sqs.client);
    const operations = await tailed.operations();
    const tailer = startTailer(sqs, tailed);
    await until('it is known where it began', async () => (await store.consumed.read([SHARD])).has(SHARD));
    await tailed.write(SHARD, 10);
    await until('the cells after that are on the queue', async () => (await queues.depth(deployed.queueUrl)) === 10);
    const offsets = () => tailed.offsets({ name: triggerFollower(NAME) });
    await until('its offset is written', async () => (await offsets())[SHARD] === 20);
    await operations.pauseTrigger({ trigger: NAME });
    await until('the tailer knows', () => tailer.events.some(({ kind }) => kind === 'held_back'));
    await sqs.client.send(new PurgeQueueCommand({ QueueUrl: deployed.queueUrl }));
    await tailed.cutAfter(SHARD, 5);
    const kept = new Set(await refKeys());
    await tailed.write(SHARD, 30);

    const consumer = startConsuming(sqs, tailed, deployed);
    await operations.resumeTrigger({ trigger: NAME });
    const called = () => new Set(consumer.called.map(({ ref_key }) => ref_key));
    await until('the last cell is called for', async () => called().has((await refKeys()).at(-1) ?? 0));
    expect((await refKeys()).filter((key) => !kept.has(key) && !called().has(key))).toEqual([]);
  });
});
