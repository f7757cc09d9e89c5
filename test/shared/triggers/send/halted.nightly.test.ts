import { PurgeQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { deployTriggers } from '../../../../shared/migrate/deployed-triggers.ts';
import { triggerFollower } from '../../../../shared/triggers/state/trigger-items.ts';
import { triggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { sqsQueues } from '../../../../shared/triggers/state/queues.ts';
import type { DeployedTrigger } from '../../../../shared/topology/topology.ts';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import type { TriggerManagementOptions } from '../../../../shared/triggers/manage/managed-trigger.ts';
import type { TriggerOperations } from '../../../../shared/api/triggers.ts';
import { startConsuming, type Consuming, type ConsumingOptions } from './support/consuming.ts';
import { deployedTrigger, sharedTailing, startTailer, type TailedStore } from './support/tailed-store.ts';
import { until } from '../../../support/until.ts';

const SHARDS = 4;
const NAME = 'bill_rider';
const FUNCTION = { name: NAME, function: 'functions/examples/bill-rider.ts' };
const NEVER_MS = 3_600_000;
const { sqs, openDeployed } = await sharedTailing(SHARDS);

interface Scene {
  readonly tailed: TailedStore;
  readonly deployed: DeployedTrigger;
  readonly operations: TriggerOperations;
  consume(options?: ConsumingOptions, deployed?: DeployedTrigger): Consuming;
  queueTen(): Promise<void>;
}

async function open({
  receipts,
  ...options
}: Partial<TriggerManagementOptions> & { readonly receipts?: number } = {}): Promise<Scene> {
  const tailed = await openDeployed([await deployedTrigger(sqs, FUNCTION, receipts)]);
  const operations = await tailed.operations(options);
  const { deployed } = tailed.trigger(NAME);
  return {
    tailed,
    deployed,
    operations,
    consume(consuming, of = deployed) {
      return startConsuming(sqs, tailed, of, consuming);
    },
    async queueTen() {
      for (let shard = 0; shard < SHARDS; shard += 1) await tailed.write(shard, 10);
      await until('all are on the queue', async () => (await depthOf(deployed.queueUrl)) >= 10 * SHARDS);
      const offsets = () => tailed.offsets({ name: triggerFollower(NAME) });
      await until('the offsets are past them', async () => (await offsets()).every((offset) => offset === 10));
    },
  };
}

async function depthOf(queueUrl: string): Promise<number> {
  return sqsQueues(sqs.client).depth(queueUrl);
}

function firstCalls(called: readonly TriggerMessage[]): readonly (readonly number[])[] {
  return Array.from({ length: SHARDS }, (_, shard) => [
    ...new Set(called.filter((message) => message.shard === shard).map(({ added_id }) => added_id)),
  ]);
}

const ids = (count: number): readonly number[] => Array.from({ length: count }, (_, position) => position + 1);
const allInOrder = (count: number) => Array.from({ length: SHARDS }, () => ids(count));
const areIn = (consumer: Consuming, count: number): boolean =>
  firstCalls(consumer.called).every(({ length }) => length === count);

async function callsOf(consumer: Consuming, count: number) {
  await until('all are called for', () => areIn(consumer, count));
  return firstCalls(consumer.called);
}

describe('a trigger that was halted', () => {
  it.each([
    ['the oldest cell that was not consumed, in order,', true],
    ['the newest without a check of its lag: the control,', false],
  ])('goes on with %s when its queue was purged', async (_what, polls) => {
    const { tailed, deployed, operations, consume, queueTen } = await open({ safeHaltMs: NEVER_MS });
    startTailer(sqs, tailed, polls ? {} : { settings: { lagEveryMs: NEVER_MS } });
    await queueTen();
    await operations.pauseTrigger({ trigger: NAME });
    await sqs.client.send(new PurgeQueueCommand({ QueueUrl: deployed.queueUrl }));
    await until('the queue is empty', async () => (await depthOf(deployed.queueUrl)) === 0);
    const consumer = consume();
    if (polls) {
      await operations.resumeTrigger({ trigger: NAME });
      expect(await callsOf(consumer, 10)).toEqual(allInOrder(10));
      return;
    }
    await triggerStore(tailed.stateTable, { datastore: tailed.datastore, trigger: NAME }).resume();
    await tailed.write(0, 1);
    await until('it goes on', () => firstCalls(consumer.called)[0]?.includes(11) === true);
    expect(firstCalls(consumer.called)).toEqual([[11], [], [], []]);
  });

  it('does so when its queue was replaced meanwhile, and also when it ran on', async () => {
    for (const isHalted of [true, false]) {
      const { tailed, deployed, operations, consume, queueTen } = await open();
      startTailer(sqs, tailed);
      await queueTen();
      if (isHalted) await operations.pauseTrigger({ trigger: NAME });
      const replaced = { ...(await deployedTrigger(sqs, FUNCTION)), definition: deployed.definition };
      await deployTriggers({ topologyTable: tailed.store.topologyTable, stateTable: tailed.stateTable }, [
        { name: tailed.datastore, triggers: [replaced] },
      ]);
      const consumer = consume({}, replaced);
      if (isHalted) await operations.resumeTrigger({ trigger: NAME });
      expect(await callsOf(consumer, 10)).toEqual(allInOrder(10));
    }
  });

  it('repeats nothing when its queue can be trusted', async () => {
    const { tailed, deployed, operations, consume, queueTen } = await open({ safeHaltMs: NEVER_MS });
    startTailer(sqs, tailed);
    await queueTen();
    const consumer = consume();
    await operations.pauseTrigger({ trigger: NAME });
    await operations.resumeTrigger({ trigger: NAME });
    await until('all are called for', () => areIn(consumer, 10));
    await until('none is left', async () => (await depthOf(deployed.queueUrl)) === 0);
    expect(consumer.called).toHaveLength(10 * SHARDS);
    expect(consumer.called.filter(({ replay }) => replay)).toEqual([]);
  });
});

describe('what SQS gave up on', () => {
  async function giveUp(): Promise<Scene> {
    const scene = await open({ receipts: 1 });
    startTailer(sqs, scene.tailed, { settings: { lagEveryMs: NEVER_MS } });
    await scene.queueTen();
    const receive = () =>
      sqs.client.send(
        new ReceiveMessageCommand({
          QueueUrl: scene.deployed.queueUrl,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 0,
          WaitTimeSeconds: 0,
        }),
      );
    await until(
      'all are given up',
      async () => (await receive(), (await depthOf(scene.deployed.parkedQueueUrl)) === 10 * SHARDS),
    );
    return scene;
  }

  it('is counted and listed, the oldest of each shard, and still there afterwards', async () => {
    const { operations } = await giveUp();
    expect(await operations.getTrigger({ trigger: NAME })).toMatchObject({ dead: 40, waiting: 0 });
    for (let poll = 0; poll < 2; poll += 1) {
      const { messages, count } = await operations.listDeadMessages({ trigger: NAME });
      expect(count).toBe(40);
      expect(
        messages.filter(({ cell, resent }) => cell?.shard === 2 && !resent).map(({ cell }) => cell?.added_id),
      ).toEqual(ids(10));
    }
    expect((await operations.listDeadMessages({ trigger: NAME, limit: 3 })).messages).toHaveLength(3);
  });

  it('is sent again as parked cells, each of which reaches the function', async () => {
    const { deployed, operations, consume } = await giveUp();
    await until('none is left', async () => (await operations.replayDeadMessages({ trigger: NAME })).left === 0);
    expect((await operations.listParkedCells({ trigger: NAME })).cells).toHaveLength(40);
    const consumer = consume();
    await until(
      'all are called for',
      () => new Set(consumer.called.map(({ shard, added_id }) => `${shard}/${added_id}`)).size === 40,
    );
    await until(
      'none is parked any more',
      async () => (await operations.listParkedCells({ trigger: NAME })).cells.length === 0,
    );
    expect(await depthOf(deployed.parkedQueueUrl)).toBe(0);
  });

  it('is parked also where all was sent again since: those behind it may have been consumed without it', async () => {
    const { operations, tailed } = await giveUp();
    await operations.pauseTrigger({ trigger: NAME });
    await operations.resumeTrigger({ trigger: NAME });
    expect((await tailed.trigger(NAME).store.status()).least_generation).toBeGreaterThan(0);
    expect(await operations.getTrigger({ trigger: NAME })).toMatchObject({
      resent: { least_generation: (await tailed.trigger(NAME).store.status()).least_generation },
    });
    await until('none is left', async () => (await operations.replayDeadMessages({ trigger: NAME })).left === 0);
    expect((await operations.listParkedCells({ trigger: NAME })).cells).toHaveLength(40);
  });

  it('is discarded', async () => {
    const { deployed, operations } = await giveUp();
    await until('none is left', async () => (await operations.discardDeadMessages({ trigger: NAME })).left === 0);
    expect(await depthOf(deployed.parkedQueueUrl)).toBe(0);
    expect((await operations.listParkedCells({ trigger: NAME })).cells).toEqual([]);
  });
});

describe('the place that a trigger goes on from', () => {
  it('is not before what was consumed: that is not called for again', async () => {
    const { tailed, operations, consume, queueTen } = await open({ safeHaltMs: 0 });
    startTailer(sqs, tailed);
    await queueTen();
    const consumer = consume();
    await until('all are called for', () => areIn(consumer, 10));
    await tailed.write(0, 1);
    await until('one more is called for', () => consumer.called.length === 41);
    const { consumed } = triggerStore(tailed.stateTable, { datastore: tailed.datastore, trigger: NAME });
    await until('it is written down', async () => {
      const marks = await consumed.read(Array.from({ length: SHARDS }, (_, shard) => shard));
      return [...marks.values()].reduce((sum, { added_id }) => sum + added_id, 0) === 41;
    });
    await operations.pauseTrigger({ trigger: NAME });
    await operations.resumeTrigger({ trigger: NAME });
    await tailed.write(1, 1);
    await until('it goes on', () => consumer.called.some(({ shard, added_id }) => shard === 1 && added_id === 11));
    expect(consumer.called.filter(({ replay }) => replay).length).toBeLessThanOrEqual(1);
  });
});
