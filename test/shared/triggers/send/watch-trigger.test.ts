import { describe, expect, it } from 'vitest';
import { TAIL_SETTINGS, type TailHappening } from '../../../../shared/triggers/send/tail-work.ts';
import { watchDepth, TriggerWatch } from '../../../../shared/triggers/send/watch-trigger.ts';
import type { TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerStatus, TroubledShard } from '../../../../shared/triggers/state/trigger-store.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

// Clock: a time as data.
const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
const MINUTE = 60_000;
const marked = (agoMs: number): TroubledShard => ({ shard: 3, cells: [], mark: { added_id: 70, at: ago(agoMs) } });

/** A watch over a state that tests set; `away` makes every read fail. */
function watching(listed: readonly number[], troubled: readonly TroubledShard[] = []) {
  const state = {
    status: { state: 'running', troubled_blocks: [0] } as TriggerStatus,
    troubled,
    unavailable: false,
    shardsUnavailable: false,
    asked: [] as (readonly number[])[],
  };
  const happened: TailHappening[] = [];
  const store = {
    async status() {
      if (state.unavailable) throw new Error('unavailable');
      return state.status;
    },
    troubled: async () => listed,
    async shards(shards: readonly number[]) {
      state.asked.push(shards);
      if (state.shardsUnavailable) throw new Error('unavailable');
      return state.troubled.filter(({ shard }) => shards.includes(shard));
    },
  } as unknown as TriggerStore;
  return {
    state,
    happened,
    watch: new TriggerWatch({ store, settings: TAIL_SETTINGS, report: (happening) => void happened.push(happening) }),
  };
}

describe('the watch over a trigger', () => {
  it('lets a shard that is in order go as far as it goes, and one with a mark a thousand further', async () => {
    const { watch, state } = watching([3, 4, 5], [marked(0), { shard: 4, cells: [] }]);
    expect(watch.status()).toBeUndefined();
    await watch.poll();
    expect(watch.limitOf(1, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(watch.limitOf(3, 0)).toBe(0);
    await watch.poll();
    expect(watch.limitOf(3, 500)).toBe(1070);
    expect(watch.limitOf(4, 0)).toBe(0);
    await watch.poll();
    expect(watch.limitOf(4, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(state.asked.flat()).not.toContain(5);
    expect(watch.troubled().map(({ shard }) => shard)).toEqual([3, 4]);
  });

  it("lets ten more past a mark that may be a dead consumer's, once for each mark, wherever the shard is", async () => {
    const { watch, state } = watching([3], [marked(16 * MINUTE)]);
    watch.limitOf(3, 0);
    await watch.poll();
    expect(watch.limitOf(3, 1070)).toBe(1080);
    expect(watch.limitOf(3, 1080)).toBe(1080);
    state.troubled = [marked(15.5 * MINUTE)];
    await watch.poll();
    expect(watch.limitOf(3, 5000)).toBe(5010);
    state.troubled = [marked(14 * MINUTE)];
    await watch.poll();
    expect(watch.limitOf(3, 1080)).toBe(1070);
  });

  it('waits for no mark of a clock that was an hour ahead: it is taken for an old one', async () => {
    const { watch } = watching([3], [marked(-3_600_000)]);
    watch.limitOf(3, 0);
    await watch.poll();
    expect(watch.limitOf(3, 1070)).toBe(1080);
  });

  it('goes on with what it saw while DynamoDB is unavailable, and reports it once', async () => {
    const { watch, state, happened } = watching([3], [marked(0)]);
    watch.limitOf(3, 0);
    await watch.poll();
    state.unavailable = true;
    state.status = { state: 'paused', troubled_blocks: [] };
    await watch.poll();
    await watch.poll();
    expect(watch.status()?.state).toBe('running');
    expect(watch.limitOf(3, 0)).toBe(1070);
    expect(happened.map(({ kind }) => kind)).toEqual(['failed']);
    state.unavailable = false;
    await watch.poll();
    expect(watch.status()?.state).toBe('paused');
  });

  it('does not hold back a troubled shard whose item cannot be read', async () => {
    const { watch, state } = watching([3]);
    await watch.poll();
    state.shardsUnavailable = true;
    expect(watch.limitOf(3, 0)).toBe(0);
    await watch.poll();
    expect(watch.limitOf(3, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the watch over a queue', () => {
  it('counts what is sent until it polls again, and goes on with what it saw while SQS is unavailable', async () => {
    const queue = { depth: 10, unavailable: false };
    const depth = watchDepth({
      settings: { ...TAIL_SETTINGS, depthLimit: 100 },
      deployed: { definition: triggerNamed('a'), queueUrl: 'url', parkedQueueUrl: '' },
      queues: {
        send: async () => [],
        depth: async () => (queue.unavailable ? Promise.reject(new Error('unavailable')) : queue.depth),
      },
    });
    await depth.poll();
    depth.add(89);
    expect(depth.isFull()).toBe(false);
    depth.add(1);
    expect(depth.isFull()).toBe(true);
    await depth.poll();
    expect(depth.isFull()).toBe(false);
    queue.depth = 100;
    await depth.poll();
    Object.assign(queue, { unavailable: true, depth: 0 });
    await expect(depth.poll()).rejects.toThrow('unavailable');
    expect([depth.isFull(), depth.found()]).toEqual([true, undefined]);
    queue.unavailable = false;
    await depth.poll();
    expect(depth.isFull()).toBe(false);
    expect(depth.found()?.messages).toBe(0);
  });
});
