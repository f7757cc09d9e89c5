import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openContext } from '../../../shared/access/context.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { triggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { connect, defined, manageWith, SEND, shop, sqs, topologyNow, useShop } from './support/shop.ts';

useShop();

const buyer = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const BY_BUYER = indexOn('by_buyer', { buyer: 'UUID' });
const BY_TOTAL = indexOn('by_total', { total: 'number' });

it('what was applied is known to the next request, also where others ask for unknown names all the time', async () => {
  const options = { topology: topologyNow(), connect, bufferCopies: 0 };
  const deployment = openDeployment(options);
  const context = openContext(options);
  const { stateTable } = shop;
  const management = triggerManagement({ context, stateTable, queues: sqsQueues(sqs.client) });
  const noIndex = async () =>
    (await deployment.datastore(shop.name)).query({ index: 'none', where: [eq('buyer', buyer)] });
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
        const by = { index: 'by_buyer', where: [eq('buyer', buyer)] };
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
