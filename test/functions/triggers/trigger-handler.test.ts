import '../support/quiet.ts';
import type { SQSEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { logger } from '../../../functions/environment/log.ts';
import { PermanentFailure, triggerHandler } from '../../../functions/triggers/trigger-handler.ts';
import { defineDatastore } from '../../../shared/client/datastore-definition.ts';
import { cellOf, messageOf } from '../../shared/triggers/consume/support/stage.ts';
import { until } from '../../support/until.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const stage = await triggerStage();
beforeEach(() => stage.redeploy());

async function send(...cells: readonly (readonly [shard: number, addedId: number])[]): Promise<void> {
  for (const [shard, addedId] of cells) await stage.send(shard, addedId);
}

const LAMBDA = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 60_000 };
const idsOf = (event: SQSEvent, ...cells: readonly string[]) =>
  event.Records.filter(({ body }) => cells.includes(cellOf(JSON.parse(body)))).map(({ messageId }) => ({
    itemIdentifier: messageId,
  }));

describe("a trigger's Lambda handler", () => {
  it('calls the function with a client of its datastore, and reports nothing when all is done', async () => {
    const bodies: unknown[] = [];
    const handler = triggerHandler('bill_rider', async (rowKey, { column_name, ref_key }, schemaless) => {
      const { cell } = await schemaless.get({ row_key: rowKey, column_name, ref_key });
      bodies.push(cell?.body);
      await schemaless.putNext({ row_key: rowKey, column_name: 'STATUS', body: { is_completed: true } });
    });
    const { row_key } = messageOf(17, 1);
    await stage.deployed.deployment.trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { fare: 12 } });
    await send([17, 1]);
    expect(await handler(await stage.nextEvent(), LAMBDA)).toEqual({ batchItemFailures: [] });
    expect(bodies).toEqual([{ fare: 12 }]);
    expect((await stage.deployed.deployment.trips.getLatest({ row_key, column_name: 'STATUS' })).cell?.body).toEqual({
      is_completed: true,
    });
  });

  it('calls the function of a definition with its declared store, and refuses another datastore', async () => {
    const definition = (name: string) =>
      defineDatastore({
        name,
        columns: { BASE: z.object({ fare: z.int() }) },
        triggers: { bill_rider: { columns: ['BASE'] } },
      });
    const fares: (number | undefined)[] = [];
    const handlerOf = (name: string) =>
      triggerHandler(definition(name), 'bill_rider', async (row_key, { ref_key }, store) => {
        fares.push((await store.get({ row_key, column_name: 'BASE', ref_key })).cell?.body.fare);
      });
    const { row_key } = messageOf(17, 1);
    await stage.deployed.deployment.trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { fare: 7 } });
    await send([17, 1]);
    const event = await stage.nextEvent();
    await expect(handlerOf('orders')(event, LAMBDA)).rejects.toThrow('datastore: wanted orders');
    expect(await handlerOf('trips')(event, LAMBDA)).toEqual({ batchItemFailures: [] });
    expect(fares).toEqual([7]);
    expect(() => triggerHandler(definition('trips'), 'bill' as 'bill_rider', () => undefined)).toThrow(
      '(bill_rider), got bill',
    );
  });

  it('reports a failed message and those behind it in its group; those that were done, or parked, are not', async () => {
    const called: string[] = [];
    const logged = vi.spyOn(logger, 'warn');
    const cause = Object.assign(new TypeError('no gateway'), { body: 'secret' });
    const handler = triggerHandler('bill_rider', (_rowKey, message) => {
      called.push(cellOf(message));
      if (cellOf(message) === '17/2') throw Object.assign(new Error('card declined', { cause }), { body: 'secret' });
      if (cellOf(message) === '4/1') throw new PermanentFailure('no fare');
    });
    await send([17, 1], [17, 2], [17, 3], [4, 1], [4, 2]);
    const event = await stage.nextEvent();
    expect(await handler(event, LAMBDA)).toEqual({ batchItemFailures: idsOf(event, '17/2', '17/3') });
    expect(called).toEqual(['17/1', '17/2', '4/1', '4/2']);
    expect(await stage.deployed.store.troubled()).toEqual([4, 17]);
    expect(logged.mock.calls).toContainEqual([
      'bill_rider failed at 17:2',
      {
        trigger: 'bill_rider',
        event: expect.objectContaining({
          error: expect.stringMatching(/^card declined at trigger-handler\.test\.ts:\d+$/u),
        }),
        stack: expect.stringMatching(
          /^Error: card declined\n {4}at .*trigger-handler\.test\.ts\S*:\d+:\d+[^]*\ncaused by TypeError: no gateway\n {4}at /u,
        ),
      },
    ]);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('secret');
  });

  it('leaves to another call what its own time is too short for', async () => {
    let left = 60_000;
    const handler = triggerHandler('bill_rider', () => void (left = 9000));
    await send([17, 1], [17, 2]);
    const event = await stage.nextEvent();
    expect(await handler(event, { ...LAMBDA, getRemainingTimeInMillis: () => left })).toEqual({
      batchItemFailures: idsOf(event, '17/2'),
    });
  });

  it('says which triggers there are when it is not one of them', async () => {
    await send([17, 1]);
    await expect(triggerHandler('bill_driver', () => undefined)(await stage.nextEvent(), LAMBDA)).rejects.toThrow(
      'Datastore trips has no trigger bill_driver: it has bill_rider',
    );
  });

  it('names the variable that its environment lacks', async () => {
    vi.stubEnv('SCHEMALESS_API_URL', '');
    await expect(triggerHandler('bill_rider', () => undefined)({ Records: [] }, LAMBDA)).rejects.toThrow(
      'The environment variable SCHEMALESS_API_URL: wanted the URL of the HTTP API, got nothing',
    );
  });

  it('shows its name and function, for consumers elsewhere', () => {
    const fn = (): void => undefined;
    const handler = triggerHandler('bill_rider', fn);
    expect([handler.trigger, handler.fn, handler.atOnce]).toEqual(['bill_rider', fn, 1]);
  });

  it('calls the function side by side where it says so, for as many as a batch has at most', async () => {
    let under = 0;
    let most = 0;
    const handler = triggerHandler(
      'bill_rider',
      async () => {
        most = Math.max(most, (under += 1));
        await until('three are under way', () => most === 3);
        under -= 1;
      },
      { atOnce: 3 },
    );
    await send([17, 1], [17, 2], [17, 3], [17, 4]);
    expect(await handler(await stage.nextEvent(), LAMBDA)).toEqual({ batchItemFailures: [] });
    expect(most).toBe(3);
    for (const atOnce of [0, 11, 1.5])
      expect(() => triggerHandler('bill_rider', () => undefined, { atOnce })).toThrow(
        `atOnce: wanted a whole number from 1 to 10, got ${atOnce}`,
      );
  });
});
