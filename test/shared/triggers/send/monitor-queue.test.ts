import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { openFollower } from '../../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../../shared/follow/offset-items.ts';
import { QueueMinder } from '../../../../shared/triggers/send/monitor-queue.ts';
import { type TailRun, TAIL_SETTINGS, type TailHappening } from '../../../../shared/triggers/send/tail-work.ts';
import { watchDepth, TriggerWatch } from '../../../../shared/triggers/send/watch-trigger.ts';
import { updateState } from '../../../../shared/dynamo/state-table.ts';
import { triggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { statusKey } from '../../../../shared/triggers/state/trigger-items.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

const NAME = { datastore: 'trips', trigger: 'bill_rider' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = (): number => new Date().getTime();
const client = dynamoClient(inject('servers').dynamo);
afterAll(() => client.destroy());
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const DEPLOYED = { function: 'functions/examples/bill-rider.ts' };

/**
 * A trigger of one shard, with 7 cells sent and 3 of them known to be consumed; the test says what its queue holds.
 * `keeps`: whether the next worker knows of a queue that one has found empty.
 */
async function monitor(definition: { readonly function?: string } = DEPLOYED, keeps = true) {
  const stateTable = await newTable(client);
  const whole = triggerStore(stateTable, NAME);
  const store = keeps ? whole : { ...whole, emptied: { ...whole.emptied, read: async () => undefined } };
  const follower = { name: `trigger/${NAME.trigger}`, datastore: NAME.datastore };
  await openFollower(stateTable, follower, 1);
  const items = new OffsetItems(stateTable, { ...follower, shards: 1, partitions: 1 });
  const { token = 0 } = (await items.take(0, 'worker', [])) ?? {};
  const sent = (added_id: number) =>
    items.commit(0, { token, generation: 0 }, [{ added_id, fingerprint: '77'.repeat(8), epoch: 1 }]);
  await sent(7);
  await store.consumed.raise(new Map([[0, { generation: 0, added_id: 3, fingerprint: '33'.repeat(8) }]]));
  const world = { messages: 0 };
  const happened: TailHappening[] = [];
  const work = {
    datastore: NAME.datastore,
    store,
    settings: TAIL_SETTINGS,
    report: (happening: TailHappening): void => void happened.push(happening),
    deployed: { definition: triggerNamed(NAME.trigger, definition), queueUrl: 'here', parkedQueueUrl: '' },
    queues: { send: async () => [], depth: async () => world.messages },
  } as const;
  const run = {
    context: { topology: { datastore: async () => ({ datastore: 'trips', shards: 1 }) } },
    stateTable,
    slot: 0,
  } as unknown as TailRun;
  return {
    world,
    store,
    items,
    sent,
    happened,
    offsetOf: async () => (await store.consumed.read([0])).get(0)?.added_id,
    soundFor: async () => now() - Date.parse((await store.status()).sound_at ?? ''),
    soundSince: async (milliseconds: number) =>
      void (await updateState(stateTable, {
        key: statusKey(NAME),
        update: 'SET #sound_at = :at',
        values: { ':at': { S: new Date(now() - milliseconds).toISOString() } },
      })),
    /** Runs workers one after another, each of which lives for a minute, as deployed. */
    async runs(count: number, seconds = 60): Promise<void> {
      for (let begun = 0; begun < count; begun += 1) {
        const watch = new TriggerWatch(work);
        const depth = watchDepth(work);
        const minder = new QueueMinder(work, run, { watch, depth });
        for (let lived = 0; lived < seconds; lived += 5) {
          await Promise.all([watch.poll(), depth.poll()]);
          await minder.poll();
          vi.advanceTimersByTime(5000);
        }
      }
    },
  };
}

async function monitorBegun(...definition: Parameters<typeof monitor>) {
  const minded = await monitor(...definition);
  await minded.store.beginQueue('here', new Date().toISOString());
  return minded;
}

describe('a queue that is empty', () => {
  it('has had all consumed once it is found empty for two minutes, although no worker lives that long', async () => {
    const { runs, offsetOf, soundFor, soundSince } = await monitorBegun();
    await soundSince(12 * HOUR);
    await runs(2);
    expect(await offsetOf()).toBe(3);
    await runs(1);
    expect([await offsetOf(), (await soundFor()) < HOUR]).toEqual([7, true]);
  });

  it.each([
    ['where the next worker goes on with what one has found', true],
    ['not where each has to find it by itself: the control', false],
  ])('of a cell a day is known to be consumed, and not taken for one that lost messages, %s', async (_where, keeps) => {
    const { runs, sent, offsetOf, soundFor } = await monitorBegun(DEPLOYED, keeps);
    for (let day = 1; day <= 4; day += 1) {
      await sent(7 + day);
      for (const _half of [1, 2]) {
        await runs(3);
        vi.advanceTimersByTime(12 * HOUR);
      }
    }
    expect([await offsetOf(), (await soundFor()) < 22 * HOUR]).toEqual(keeps ? [11, true] : [3, false]);
  });

  it('has had nothing consumed that was sent since: SQS may count a minute late, by a clock that differs by another', async () => {
    expect(TAIL_SETTINGS.emptyMs).toBeGreaterThanOrEqual(120_000);
    const { runs, offsetOf, sent } = await monitorBegun();
    await runs(1);
    await sent(9);
    await runs(2);
    expect(await offsetOf()).toBe(7);
    await runs(3);
    expect(await offsetOf()).toBe(9);
  });

  it('begins again once a message is found, and once its trigger was halted, by whichever worker', async () => {
    const { runs, offsetOf, world, store } = await monitorBegun();
    await runs(2);
    world.messages = 1;
    await runs(1, 5);
    world.messages = 0;
    await runs(2);
    expect(await offsetOf()).toBe(3);
    await store.setState('paused');
    await store.resume();
    await runs(2);
    expect(await offsetOf()).toBe(3);
    await runs(1);
    expect(await offsetOf()).toBe(7);
  });

  it('says nothing of what was sent before a rewind came', async () => {
    const { store, items, runs } = await monitorBegun();
    await runs(1);
    await store.consumed.change([0], (_shard, mark) => mark && { ...mark, generation: 1, added_id: 0 });
    await items.rewind(0, ([offset]) => [offset && { ...offset, added_id: 0 }]);
    await runs(2);
    expect((await store.consumed.read([0])).get(0)).toMatchObject({ generation: 1, added_id: 0 });
  });

  it.each<[string, { readonly function?: string }, number]>([
    ['for twenty-two hours', DEPLOYED, 22 * HOUR],
    ['for fourteen days by consumers elsewhere', {}, 14 * DAY],
  ])(
    'is not taken for consumed when nothing was %s: what expired leaves it as empty',
    async (_name, definition, waited) => {
      const { store, runs, soundSince, happened } = await monitorBegun(definition);
      await soundSince(waited);
      await runs(3);
      expect(happened.some(({ kind }) => kind === 'resent')).toBe(true);
      expect((await store.consumed.read([0])).get(0)).toMatchObject({ generation: 100, added_id: 3 });
    },
  );

  it('of consumers elsewhere is taken for consumed within the time that it keeps messages, and not while the trigger is paused', async () => {
    const { store, runs, soundSince, offsetOf, soundFor } = await monitorBegun({});
    await soundSince(12 * DAY);
    await store.setState('paused');
    await runs(3);
    expect([await offsetOf(), (await soundFor()) > 11 * DAY]).toEqual([3, true]);
    await store.resume();
    await runs(3);
    expect([await offsetOf(), (await soundFor()) < HOUR]).toEqual([7, true]);
  });
});

describe('the queue of a trigger', () => {
  it('that is not empty is not known to be sound where the consumer is elsewhere', async () => {
    const { world, runs, soundSince, soundFor } = await monitorBegun({});
    world.messages = 1;
    await soundSince(DAY);
    await runs(3);
    expect(await soundFor()).toBeGreaterThan(DAY - HOUR);
  });

  it('is the one that is deployed, where a deploy that wanted all sent again to another was taken back', async () => {
    const { store, runs, happened } = await monitorBegun();
    await store.wantResend({ why: 'its queue was replaced', seen: {}, queueUrl: 'taken back' });
    await runs(1);
    expect(happened.some(({ kind }) => kind === 'resent')).toBe(true);
    expect(await store.status()).toMatchObject({ queue_url: 'here', least_generation: 100 });
  });

  it('gets nothing again by a worker that knows another one, where the request names none', async () => {
    const { store, runs } = await monitor();
    await store.beginQueue('there', new Date().toISOString());
    await store.wantResend({ why: 'its messages were not consumed', seen: await store.status() });
    await runs(1, 10);
    expect(await store.status()).toMatchObject({ queue_url: 'there', resend: { id: expect.any(String) } });
  });

  it('is sound since its trigger was halted, where nothing was sent before: later would hide how long its messages waited', async () => {
    const { store, runs } = await monitor();
    await store.setState('paused');
    const { changed_at } = await store.status();
    vi.advanceTimersByTime(HOUR);
    await runs(1);
    expect(await store.status()).toMatchObject({ queue_url: 'here', sound_at: changed_at });
  });
});
