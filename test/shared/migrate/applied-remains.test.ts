import { setImmediate } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { openContext } from '../../../shared/access/context.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { AppliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { triggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { indexOn } from '../../support/index-on.ts';
import {
  applied,
  connect,
  defined,
  deploy,
  groups,
  manageWith,
  ownTrigger,
  queueNames,
  queuesNow,
  SEND,
  sendMessage,
  shop,
  sqs,
  topologyNow,
  triggersNow,
  desired,
  type Managing,
  useShop,
} from './support/shop.ts';

useShop();

const SHARDS = 3;
const buyer = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const BY_BUYER = indexOn('by_buyer', { buyer: 'UUID' });
const BY_TOTAL = indexOn('by_total', { total: 'number' });
const manage = (managing?: Managing) => manageWith(0, managing);
/** With an index and a trigger. */
const apply = (managing?: Managing) =>
  manage(managing).apply(defined(SHARDS, { indexes: [BY_BUYER], triggers: [SEND] }), false);

describe('what was applied and never made', () => {
  /** SQS makes no queue of a shop.name that was deleted less than a minute ago. */
  const withoutQueues = (): AppliedQueues => ({
    ...queuesNow(),
    make: () => Promise.reject(new SchemalessError('unavailable', 'the queue was deleted less than a minute ago')),
  });

  it('is deleted all the same: an index, and a trigger of which only the queues are there', async () => {
    await deploy([desired(SHARDS)]);
    expect(await errorOf(() => apply({ queues: withoutQueues() }))).toMatchObject({ code: 'unavailable' });
    await manage().deleteIndex(shop.name, 'by_buyer', { confirm: 'by_buyer' });
    expect(await applied()).toEqual([]);
    await queuesNow().make(shop.name, SEND, true);
    await manage().deleteTrigger(shop.name, 'send', { confirm: 'send' });
    expect(await queueNames()).toEqual([]);
    expect(await errorOf(() => manage().deleteTrigger(shop.name, 'send', { confirm: 'send' }))).toMatchObject({
      code: 'unknown_trigger',
    });
  });
});

describe('a trigger that was applied', () => {
  it('gets nothing of what one of its name left on its queues', async () => {
    await apply();
    const [trigger] = await triggersNow();
    await sendMessage(trigger?.queueUrl);
    const defining = desired(SHARDS, { indexes: [BY_BUYER], triggers: [ownTrigger()] });
    await deploy([defining]);
    await deploy([defining, desired(1, { name: `${shop.name}_other` })]);
    await deploy([{ ...defining, triggers: [] }]);
    expect(await triggersNow()).toEqual([]);
    expect(await errorOf(() => apply())).toMatchObject({ code: 'unavailable', retry: 'later' });
    expect(await queueNames()).toEqual([]);
  });
});

describe('a deployment', () => {
  it('without a group that owns shards of what was applied is refused', async () => {
    await apply();
    const [gone, ...others] = groups;
    await expect(deploy([], others)).rejects.toThrow(
      `wanted ${gone?.name} among them, which owns shards of ${shop.name}`,
    );
    expect(await topologyNow().groups()).toHaveLength(groups.length);
  });

  it('that no migration has told of yet is waited for', async () => {
    shop.topologyTable = await newTable(dynamoClient(inject('servers').dynamo));
    expect(await errorOf(() => apply())).toMatchObject({ code: 'unavailable' });
  });
});

it('the next request knows an applied definition, also while others ask for unknown names all the time', async () => {
  const options = { topology: topologyNow(), connect, bufferCopies: 0 };
  const deployment = openDeployment(options);
  const context = openContext(options);
  const { stateTable } = shop;
  const management = triggerManagement({ context, stateTable, queues: sqsQueues(sqs.client) });
  const noIndex = async () => (await deployment.datastore(shop.name)).query({ index: 'none', where: { buyer } });
  const noTrigger = async () => (await management.triggers(shop.name)).getTrigger({ trigger: 'none' });
  const over = new AbortController();
  let asked = 0;
  const others = [() => deployment.datastore('none'), noIndex, noTrigger].map(async (ask) => {
    for (; !over.signal.aborted; asked += 1) {
      await expect(ask()).rejects.toMatchObject({
        code: expect.stringMatching(/^unknown_(?:datastore|index|trigger)$/u),
      });
      await setImmediate();
    }
  });
  const heard = async (): Promise<void> => {
    const before = asked;
    await expect.poll(() => asked > before + 10).toBe(true);
  };

  try {
    for (let round = 0; round < 3; round += 1) {
      await heard();
      const more = round > 0 && { indexes: [BY_BUYER, ...(round > 1 ? [BY_TOTAL] : [])] };
      const triggers = round > 1 ? [SEND] : [];
      expect(await manageWith(0).apply(defined(2, { ...more, triggers }), false)).toMatchObject({ done: true });
      const shops = await deployment.datastore(shop.name);
      expect(await shops.put(cellOf({ body: { buyer, total: round } }))).toMatchObject({ outcome: 'stored' });
      if (round === 1) {
        const by = { index: 'by_buyer', where: { buyer } };
        expect(await errorOf(() => shops.query(by))).toMatchObject({ code: 'index_building' });
      }
      if (round === 2) {
        expect(await (await management.triggers(shop.name)).getTrigger({ trigger: 'send' })).toMatchObject({
          state: 'running',
        });
        expect(await shops.getIndex('by_total')).toMatchObject({ state: 'building' });
        expect((await shops.listIndexes()).indexes.map(({ index }) => index)).toEqual(['by_buyer', 'by_total']);
      }
    }
  } finally {
    over.abort();
    await Promise.all(others);
    await deployment.close();
    await context.groups.close();
  }
});
