import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LogPlace } from '../../../shared/follow/follower.ts';
import type { QueueMessage } from '../../../shared/tail/queue-client.ts';
import { TAIL_SETTINGS } from '../../../shared/tail/settings.ts';
import { tailFollower } from '../../../shared/tail/tail-follower.ts';
import { TAIL_PROTECTIONS, type TailHappening } from '../../../shared/tail/tail-work.ts';
import { parseMessage } from '../../../shared/trigger/queue-message.ts';
import type { TriggerStatus, TriggerStore } from '../../../shared/trigger/trigger-store.ts';

const cell = (added_id: number, generation = 0, created_at = '2026-01-31T08:00:00.000000Z'): LogPlace => ({
  shard: 3, added_id, generation, created_at, row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name: 'BASE', ref_key: 0, fingerprint: '0123456789abcdef',
});

/** A follower over a state and a queue that tests set. */
function following(status?: Partial<TriggerStatus>) {
  const world = { status: status && ({ state: 'running', troubled: [], ...status } as TriggerStatus), askedAt: performance.now(), looks: 0, limit: Number.POSITIVE_INFINITY, full: false };
  const messages: QueueMessage[] = [];
  const happened: TailHappening[] = [];
  const follower = tailFollower(
    {
      datastore: 'trips',
      deployed: { definition: { name: 'bill_rider', columns: ['BASE'], start: 'now', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 30 }, queueUrl: 'url', parkedQueueUrl: '' },
      queues: {
        async send(_url, some) {
          messages.push(...some);
          return some.map(() => undefined);
        },
        depth: async () => 0,
      },
      store: {} as TriggerStore,
      settings: TAIL_SETTINGS,
      protections: TAIL_PROTECTIONS,
      report: (happening) => void happened.push(happening),
    },
    { status: () => world.status, askedAt: () => world.askedAt, limitOf: () => world.limit, troubled: () => [], run: async () => undefined, look: async () => void (world.looks += 1) },
    { isFull: () => world.full, add: () => undefined, run: async () => undefined },
  );
  return { world, messages, happened, follower };
}

describe('the follower of a trigger', () => {
  it('has its name, its columns and its start', () => {
    expect(following().follower).toMatchObject({ name: 'trigger/bill_rider', datastore: 'trips', columns: ['BASE'], start: 'now' });
  });

  it('sends nothing before it knows that the trigger runs, nor while it does not, nor while its queue is full', async () => {
    const { world, messages, happened, follower } = following();
    const isOpen = async (): Promise<boolean> => (await follower.handle('group-1', [cell(1)])).size > 0 && follower.wants?.(3, 1) === true;
    expect([await isOpen(), follower.wants?.(3, 0)]).toEqual([false, false]);
    world.status = { state: 'paused', troubled: [] };
    expect([await isOpen(), follower.wants?.(3, 0)]).toEqual([false, false]);
    world.status = { state: 'stopped', reason: '100 cells are parked', troubled: [] };
    expect(await isOpen()).toBe(false);
    world.status = { state: 'running', troubled: [] };
    expect(await isOpen()).toBe(true);
    world.full = true;
    expect([await isOpen(), follower.wants?.(3, 0)]).toEqual([false, false]);
    expect(messages).toHaveLength(1);
    expect(happened.filter(({ kind }) => kind !== 'sent')).toEqual([
      { kind: 'held_back', why: 'it is paused' },
      { kind: 'held_back', why: 'it is stopped: 100 cells are parked' },
      { kind: 'goes_on' },
      { kind: 'held_back', why: 'its queue holds 100000 messages or more' },
    ]);
  });

  it('sends no further than the shard\'s limit', async () => {
    const { world, messages, follower } = following({});
    world.limit = 5;
    expect(await follower.handle('group-1', [4, 5, 6, 7].map((id) => cell(id)))).toEqual(new Map([[3, 5]]));
    expect(messages).toHaveLength(2);
    expect([4, 5, 6].map((after) => follower.wants?.(3, after))).toEqual([true, false, false]);
  });

  it('sends a generation that is new to it only with a status from after it saw it, which knows of its rewind', async () => {
    const { world, messages, follower } = following({});
    const cells = [cell(1, 1), cell(2, 1, '2026-01-31T09:00:00.000001Z')];
    expect(await follower.handle('group-1', cells)).toEqual(new Map());
    expect([messages.length, world.looks]).toEqual([0, 1]);
    world.status = { state: 'running', troubled: [], rewound_at: '2026-01-31T09:00:00.000000Z' };
    await sleep(2);
    world.askedAt = performance.now();
    await sleep(2);
    expect(await follower.handle('group-1', cells)).toEqual(new Map([[3, 2]]));
    expect(messages.map(({ body }) => parseMessage(body).replay)).toEqual([true, false]);
    // The next rewind.
    expect(await follower.handle('group-1', [cell(1, 2)])).toEqual(new Map());
  });
});
