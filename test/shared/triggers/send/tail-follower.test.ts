import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../../shared/follow/follower.ts';
import { unread } from '../../../../shared/follow/start-offsets.ts';
import type { QueueMessage } from '../../../../shared/triggers/state/queues.ts';
import { TAIL_SETTINGS, type TailHappening } from '../../../../shared/triggers/send/tail-work.ts';
import { tailFollower } from '../../../../shared/triggers/send/tail-follower.ts';
import { parseMessage } from '../../../../shared/triggers/state/queue-message.ts';
import type { TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerStatus } from '../../../../shared/triggers/state/trigger-store.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

const cell = (added_id: number, generation = 0, created_at = '2026-01-31T08:00:00.000000Z'): LogEntry => ({
  shard: 3,
  added_id,
  generation,
  created_at,
  row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
  column_name: 'BASE',
  ref_key: 0,
  fingerprint: '0123456789abcdef',
});

const RUNNING: TriggerStatus = { state: 'running', queue_url: 'url', troubled_blocks: [] };

function following(status?: Partial<TriggerStatus>) {
  const world = {
    status: status && { ...RUNNING, ...status },
    replayedTo: undefined as number | undefined,
    marked: true,
    limit: Number.POSITIVE_INFINITY,
    full: false,
    /** Added ids whose messages the queue refuses. */
    refused: [] as readonly number[],
  };
  const messages: QueueMessage[] = [];
  const happened: TailHappening[] = [];
  const follower = tailFollower(
    {
      datastore: 'trips',
      deployed: {
        definition: triggerNamed('bill_rider', { columns: ['BASE'], start: 'now' }),
        queueUrl: 'url',
        parkedQueueUrl: '',
      },
      queues: {
        async send(_url, some) {
          const ends = some.map(({ body }) =>
            world.refused.includes(parseMessage(body).added_id) ? new Error('refused') : undefined,
          );
          messages.push(...some.filter((_, at) => ends[at] === undefined));
          return ends;
        },
        depth: async () => 0,
      },
      store: {} as TriggerStore,
      settings: TAIL_SETTINGS,
      report: (happening) => void happened.push(happening),
    },
    {
      watch: {
        status: () => world.status,
        limitOf: () => world.limit,
        troubled: () => [],
        poll: async () => undefined,
      },
      depth: { isFull: () => world.full, found: () => undefined, add: () => undefined, poll: async () => undefined },
      marks: { has: () => world.marked, replayedTo: (_shard, generation) => (generation === 0 ? 0 : world.replayedTo) },
    },
  );
  return { world, messages, happened, follower };
}

describe('the follower of a trigger', () => {
  it('has its name, its columns and its start', () => {
    expect(following().follower).toMatchObject({
      name: 'trigger/bill_rider',
      datastore: 'trips',
      columns: ['BASE'],
      start: 'now',
    });
  });

  it('is done with no cell from one on that its queue refused while it took others', async () => {
    const { world, messages, happened, follower } = following({});
    world.refused = [3];
    const cells = [1, 2, 3, 4].map((added_id) => cell(added_id));
    expect(await follower.handle('group-1', cells)).toEqual(new Map([[3, 2]]));
    expect(happened.map(({ kind }) => kind)).toContain('send_failed');
    world.refused = [];
    expect(await follower.handle('group-1', cells.slice(2))).toEqual(new Map([[3, 4]]));
    expect(messages.map(({ body }) => parseMessage(body).added_id)).toEqual(expect.arrayContaining([1, 2, 3, 4]));
  });

  it('sends nothing before it knows that the trigger runs, nor while it does not, nor while its queue is full', async () => {
    const { world, messages, happened, follower } = following();
    const isOpen = async (): Promise<boolean> =>
      (await follower.handle('group-1', [cell(1)])).size > 0 && follower.wants?.(3, unread(1)) === true;
    expect([await isOpen(), follower.wants?.(3, unread(0))]).toEqual([false, false]);
    world.status = { state: 'paused', troubled_blocks: [] };
    expect([await isOpen(), follower.wants?.(3, unread(0))]).toEqual([false, false]);
    world.status = { state: 'stopped', reason: '100 cells are parked', troubled_blocks: [] };
    expect(await isOpen()).toBe(false);
    world.status = RUNNING;
    expect(await isOpen()).toBe(true);
    world.full = true;
    expect([await isOpen(), follower.wants?.(3, unread(0))]).toEqual([false, false]);
    expect(messages).toHaveLength(1);
    expect(happened.filter(({ kind }) => kind !== 'sent')).toEqual([
      { kind: 'held_back', why: 'it is paused' },
      { kind: 'held_back', why: 'it is stopped: 100 cells are parked' },
      { kind: 'continues' },
      { kind: 'held_back', why: 'its queue holds 100000 messages or more' },
    ]);
  });

  it("sends no further than the shard's limit", async () => {
    const { world, messages, follower } = following({});
    world.limit = 5;
    expect(
      await follower.handle(
        'group-1',
        [4, 5, 6, 7].map((id) => cell(id)),
      ),
    ).toEqual(new Map([[3, 5]]));
    expect(messages).toHaveLength(2);
    expect([4, 5, 6].map((after) => follower.wants?.(3, unread(after)))).toEqual([true, false, false]);
  });

  it('counts what it sent towards the limit, and no cells of other columns', async () => {
    const { world, messages, follower } = following({});
    world.limit = 5;
    const wantsAt = (added_id: number, given: number) => follower.wants?.(3, { ...unread(added_id), given });
    expect([wantsAt(900, 4), wantsAt(900, 5)]).toEqual([true, false]);
    expect(wantsAt(900, 4)).toBe(true);
    expect(await follower.handle('group-1', [cell(950), cell(951)])).toEqual(new Map([[3, 950]]));
    expect(messages).toHaveLength(1);
  });

  it('sends a generation that is new to it only once it knows up to where its cells are replays', async () => {
    const { world, messages, follower } = following({});
    const cells = [cell(1, 1), cell(2, 1)];
    expect(await follower.handle('group-1', cells)).toEqual(new Map());
    expect(messages).toEqual([]);
    world.replayedTo = 1;
    expect(await follower.handle('group-1', cells)).toEqual(new Map([[3, 2]]));
    expect(messages.map(({ body }) => parseMessage(body).replay)).toEqual([true, false]);
  });

  it('sends nothing of a shard that could not be sent again if its queue were lost, nor to another queue than before', async () => {
    const { world, messages, happened, follower } = following({});
    world.marked = false;
    expect(follower.wants?.(3, unread(0))).toBe(false);
    world.marked = true;
    world.status = { ...RUNNING, queue_url: 'another url' };
    expect(await follower.handle('group-1', [cell(1)])).toEqual(new Map());
    const resend = { id: '1', why: 'its queue was replaced', asked_at: '2026-01-31T08:00:00.000Z' };
    world.status = { ...RUNNING, resend };
    expect(await follower.handle('group-1', [cell(1)])).toEqual(new Map());
    expect(messages).toEqual([]);
    expect(happened).toEqual([
      { kind: 'held_back', why: 'its queue is not the one that it was sent to before' },
      { kind: 'held_back', why: 'cells not known to be consumed are to be sent again: its queue was replaced' },
    ]);
  });
});
