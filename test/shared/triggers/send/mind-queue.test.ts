import { afterAll, describe, expect, inject, it } from 'vitest';
import { openFollower } from '../../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../../shared/follow/offset-items.ts';
import { QueueMinder } from '../../../../shared/triggers/send/mind-queue.ts';
import type { TailRun } from '../../../../shared/triggers/send/tail-run.ts';
import { TAIL_SETTINGS } from '../../../../shared/triggers/send/settings.ts';
import { poll, type TailHappening } from '../../../../shared/triggers/send/tail-work.ts';
import type { EmptyQueue } from '../../../../shared/triggers/send/watch-depth.ts';
import { TriggerWatch } from '../../../../shared/triggers/send/watch-trigger.ts';
import { updateState } from '../../../../shared/dynamo/state-table.ts';
import { triggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { statusKey } from '../../../../shared/triggers/state/trigger-items.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { until } from '../../../support/until.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

const NAME = { datastore: 'trips', trigger: 'bill_rider' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
// Clock: a time as data, to the hour.
const NOW = Date.now();
const client = dynamoClient(inject('servers').dynamo);
afterAll(() => client.destroy());

/**
 * A trigger of one shard, with 7 cells sent and 3 of them known to be consumed, whose queue is minded; what its queue
 * holds is the test's to say.
 */
async function mind(
  definition: { readonly function?: string } = { function: 'functions/examples/bill-rider.ts' },
  listMs = 100,
) {
  const stateTable = await newTable(client);
  const store = triggerStore(stateTable, NAME);
  const follower = { name: `trigger/${NAME.trigger}`, datastore: NAME.datastore };
  await openFollower(stateTable, follower, 1);
  const items = new OffsetItems(stateTable, { ...follower, shards: 1, partitions: 1 });
  const { token = 0 } = (await items.take(0, 'worker', [])) ?? {};
  await items.commit(0, { token, generation: 0 }, [{ added_id: 7, fingerprint: '77'.repeat(8), epoch: 1 }]);
  await store.consumed.raise(new Map([[0, { generation: 0, added_id: 3, fingerprint: '33'.repeat(8) }]]));
  const world: { empty: EmptyQueue | undefined } = { empty: undefined };
  const happened: TailHappening[] = [];
  const settings = { ...TAIL_SETTINGS, lookMs: 10, listMs, emptyMs: 1000 };
  const report = (happening: TailHappening): void => void happened.push(happening);
  const stopping = new AbortController();
  const watch = new TriggerWatch({ store, settings, report });
  let looks = 0;
  const work = {
    datastore: NAME.datastore,
    store,
    settings,
    report,
    deployed: {
      definition: triggerNamed(NAME.trigger, definition),
      queueUrl: 'here',
      parkedQueueUrl: '',
    },
    queues: { send: async () => [], depth: async () => 0 },
  } as const;
  const run = {
    context: { topology: { datastore: async () => ({ datastore: 'trips', shards: 1 }) } },
    stateTable,
    slot: 0,
  } as unknown as TailRun;
  const minder = new QueueMinder(work, run, { watch, depth: { empty: () => world.empty } });
  const look = async (): Promise<void> => {
    looks += 1;
    await watch.look();
    await minder.look();
  };
  return {
    world,
    store,
    items,
    happened,
    offsetOf: async () => (await store.consumed.read([0])).get(0)?.added_id,
    looked: async () => {
      const before = looks;
      await until('it is looked at again', () => looks > before + 5);
    },
    soundFor: async () => NOW - Date.parse((await store.status()).sound_at ?? ''),
    soundSince: async (milliseconds: number) =>
      void (await updateState(stateTable, {
        key: statusKey(NAME),
        update: 'SET #sound_at = :at',
        values: { ':at': { S: new Date(NOW - milliseconds).toISOString() } },
      })),
    begin(): () => Promise<void> {
      const running = poll(work, { what: 'looking', everyMs: settings.lookMs, look }, stopping.signal);
      return async () => {
        stopping.abort();
        await running;
      };
    },
  };
}

async function mindBegun(...definition: Parameters<typeof mind>) {
  const minded = await mind(...definition);
  await minded.store.beginQueue('here', new Date().toISOString());
  return minded;
}

/** Looks that all find it empty, the last of them before all else, or behind it. */
const FOUND_ONCE: EmptyQueue = { since: 0, at: 0 };
const FOUND_AGAIN: EmptyQueue = { since: 0, at: Number.MAX_SAFE_INTEGER };

describe('a queue that is empty', () => {
  it('has had all consumed only once it is found empty again, a minute after it was: SQS may count what it holds that late', async () => {
    expect(TAIL_SETTINGS.emptyMs).toBeGreaterThanOrEqual(60_000);
    const { world, begin, offsetOf, looked } = await mindBegun();
    const end = begin();
    world.empty = FOUND_ONCE;
    await looked();
    expect(await offsetOf()).toBe(3);
    world.empty = FOUND_AGAIN;
    await until('it is known to be consumed', async () => (await offsetOf()) === 7);
    await end();
  });

  it('says nothing of what was sent before a rewind came', async () => {
    const { world, store, items, begin, looked } = await mindBegun();
    await store.consumed.change([0], (_shard, mark) => mark && { ...mark, generation: 1, added_id: 0 });
    const end = begin();
    world.empty = FOUND_AGAIN;
    await looked();
    await items.rewind(0, ([offset]) => [offset && { ...offset, added_id: 0 }]);
    expect((await store.consumed.read([0])).get(0)).toMatchObject({ generation: 1, added_id: 0 });
    await end();
  });

  it.each<[string, { readonly function?: string }, number]>([
    ['for twenty-two hours', { function: 'functions/examples/bill-rider.ts' }, 22 * HOUR],
    ['for fourteen days by consumers elsewhere', {}, 14 * DAY],
  ])(
    'is not taken for consumed when nothing was %s: what expired leaves it as empty',
    async (_name, definition, waited) => {
      const { world, store, begin, soundSince, happened } = await mindBegun(definition);
      await soundSince(waited);
      const end = begin();
      world.empty = FOUND_AGAIN;
      await until('all of it is sent again', async () => happened.some(({ kind }) => kind === 'resent'));
      expect((await store.consumed.read([0])).get(0)).toMatchObject({ generation: 100, added_id: 3 });
      await end();
    },
  );

  it('of consumers elsewhere is taken for consumed within the time that it keeps messages, and not while the trigger is paused', async () => {
    const { world, store, begin, soundSince, offsetOf, soundFor, looked } = await mindBegun({});
    await soundSince(12 * DAY);
    await store.setState('paused');
    const end = begin();
    world.empty = FOUND_AGAIN;
    await looked();
    expect([await offsetOf(), (await soundFor()) > 11 * DAY]).toEqual([3, true]);
    await store.resume();
    await until('it is known to be consumed', async () => (await offsetOf()) === 7);
    await until('its queue is sound', async () => (await soundFor()) < HOUR);
    await end();
  });
});

describe('the queue of a trigger', () => {
  it('that is not empty is not known to be sound where the consumer is elsewhere', async () => {
    const { begin, soundSince, soundFor, looked } = await mindBegun({});
    await soundSince(DAY);
    const end = begin();
    await looked();
    await end();
    expect(await soundFor()).toBeGreaterThan(DAY - HOUR);
  });

  it('is the one that is deployed, where a deploy that wanted all sent again to another was taken back', async () => {
    const { store, begin, happened } = await mindBegun();
    await store.wantResend({ why: 'its queue was replaced', seen: {}, queueUrl: 'taken back' });
    const end = begin();
    await until('all was sent again', async () => happened.some(({ kind }) => kind === 'resent'));
    expect(await store.status()).toMatchObject({ queue_url: 'here', least_generation: 100 });
    await end();
  });

  it('gets nothing again by a worker that knows another one, where the wish names none', async () => {
    const { store, begin, looked } = await mind(undefined, HOUR);
    await store.beginQueue('there', new Date().toISOString());
    await store.wantResend({ why: 'its messages were not consumed', seen: await store.status() });
    const end = begin();
    await looked();
    expect(await store.status()).toMatchObject({ queue_url: 'there', resend: { id: expect.any(String) } });
    await end();
  });

  it('is sound since its trigger was halted, where nothing was sent before: later would hide how long its messages waited', async () => {
    const { store, begin } = await mind();
    await store.setState('paused');
    const { changed_at } = await store.status();
    const end = begin();
    await until('it has begun', async () => (await store.status()).queue_url !== undefined);
    await end();
    expect(await store.status()).toMatchObject({ queue_url: 'here', sound_at: changed_at });
  });
});
