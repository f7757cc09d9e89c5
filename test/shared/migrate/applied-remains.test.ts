import { describe, expect, inject, it } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import type { AppliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { indexOn } from '../../support/index-on.ts';
import {
  applied,
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
  topologyNow,
  triggersNow,
  wished,
  type Managing,
  useShop,
} from './support/shop.ts';

useShop();

const SHARDS = 3;
const BY_BUYER = indexOn('by_buyer', { buyer: 'UUID' });
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
    await deploy([wished(SHARDS)]);
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
    const defining = wished(SHARDS, { indexes: [BY_BUYER], triggers: [ownTrigger()] });
    await deploy([defining]);
    await deploy([defining, wished(1, { name: `${shop.name}_other` })]);
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
