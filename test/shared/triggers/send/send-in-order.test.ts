import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { LogEntry } from '../../../../shared/follow/follower.ts';
import type { QueueMessage } from '../../../../shared/triggers/state/queues.ts';
import { sendInOrder, type SendInOrder } from '../../../../shared/triggers/send/send-in-order.ts';
import { until } from '../../../support/until.ts';
import { withoutResending } from '../../../support/without-resending.ts';
import { deduplicationId } from '../../../../shared/triggers/state/queue-message.ts';

function cellsOf(shard: number, count: number): LogEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    shard,
    added_id: at + 1,
    row_key: '',
    column_name: 'BASE',
    ref_key: 0,
    created_at: '',
    fingerprint: 'f',
    generation: 0,
  }));
}

/** A queue that drops what it has by deduplication id, and fails messages as told. */
function fakeQueue(fails: (message: QueueMessage, item: number, request: number) => boolean = () => false) {
  const accepted: string[] = [];
  const requests: (readonly QueueMessage[])[] = [];
  let underWay = 0;
  let most = 0;
  return {
    accepted,
    requests,
    most: () => most,
    async send(messages: readonly QueueMessage[]) {
      requests.push(messages);
      const request = requests.length;
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => void setImmediate(resolve));
      underWay -= 1;
      return messages.map((message, item) => {
        if (fails(message, item, request)) return new Error('no');
        if (!accepted.includes(message.deduplicationId)) accepted.push(message.deduplicationId);
        return undefined;
      });
    },
  };
}

const how = (queue: { send: SendInOrder['send'] }, rest: Partial<SendInOrder> = {}): SendInOrder => ({
  send: (messages) => queue.send(messages),
  toMessage: (cell) => ({ body: '', groupId: String(cell.shard), deduplicationId: deduplicationId(cell) }),
  sideBySide: 4,
  forMs: 10_000,
  ...rest,
});

const orderOf = (accepted: readonly string[], shard: number): number[] =>
  accepted.filter((id) => id.startsWith(`${shard}-`)).map((id) => Number(id.split('-')[1]));
const rising = (ids: readonly number[]): boolean => ids.every((id, at) => id === at + 1);

async function sendAll(queue: { send: SendInOrder['send'] }, cells: readonly LogEntry[]): Promise<void> {
  for (let left = cells; left.length > 0;) {
    const { done } = await sendInOrder(how(queue), left);
    left = left.filter(({ shard, added_id }) => added_id > (done.get(shard) ?? 0));
  }
}

describe('sending in order', () => {
  it('fills requests with cells of ten shards, one at a time of each', async () => {
    const queue = fakeQueue();
    const cells = Array.from({ length: 25 }, (_, shard) => cellsOf(shard, 2)).flat();
    const sent = await sendInOrder(how(queue), cells);
    expect(queue.requests.map(({ length }) => length)).toEqual([10, 10, 5, 10, 10, 5]);
    expect(
      queue.requests.every((request) => new Set(request.map(({ groupId }) => groupId)).size === request.length),
    ).toBe(true);
    expect(queue.most()).toBe(3);
    expect(sent.done).toEqual(new Map(Array.from({ length: 25 }, (_, shard) => [shard, 2])));
    expect(sent).toMatchObject({ failure: undefined, cells: { length: 50 } });
  });

  it('keeps the order of every shard whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(99), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (failing, shards) => {
          let sent = 0;
          const queue = fakeQueue(() => (failing[(sent += 1) % (failing.length * 3)] ?? 100) < 30);
          const cells = Array.from({ length: shards }, (_, shard) => cellsOf(shard, 5)).flat();
          await sendAll(queue, cells);
          for (let shard = 0; shard < shards; shard += 1)
            expect(orderOf(queue.accepted, shard)).toEqual([1, 2, 3, 4, 5]);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('goes on with other shards, and is done up to the cell that failed', async () => {
    const queue = fakeQueue(({ deduplicationId: id }) => id.startsWith('1-3-'));
    const sent = await sendInOrder(how(queue), [...cellsOf(1, 5), ...cellsOf(2, 5)]);
    expect(sent.done).toEqual(
      new Map([
        [1, 2],
        [2, 5],
      ]),
    );
    expect(sent.failure).toEqual(new Error('no'));
    expect(orderOf(queue.accepted, 1)).toEqual([1, 2]);
  });

  it('knows nothing of a request that failed as a whole', async () => {
    const sent = await sendInOrder(how({ send: () => Promise.reject(new Error('unavailable')) }), cellsOf(1, 3));
    expect(sent).toEqual({ done: new Map(), cells: [], failure: new Error('unavailable') });
  });

  it('breaks the order where a cell that failed is sent again alone: the control', async () => {
    const third = (_: QueueMessage, item: number, request: number): boolean => request === 1 && item === 2;
    const [kept, broken] = [fakeQueue(third), fakeQueue(third)];
    const cells = Array.from({ length: 10 }, (_, shard) => cellsOf(shard, 10)).flat();
    await sendAll(kept, cells);
    const careless = withoutResending({ send: (_url, messages) => broken.send(messages), depth: async () => 0 }, 50);
    await sendAll({ send: (messages) => careless.send('', messages) }, cells);
    await until('all are accepted', () => broken.accepted.length === cells.length);
    const isKept = (queue: { readonly accepted: readonly string[] }) =>
      Array.from({ length: 10 }, (_, shard) => rising(orderOf(queue.accepted, shard)));
    expect(isKept(kept)).toEqual(Array.from({ length: 10 }, () => true));
    expect(isKept(broken)).toEqual(Array.from({ length: 10 }, (_, shard) => shard !== 2));
  });

  it('begins no request once its time is up', async () => {
    const queue = fakeQueue();
    const takingOneMs = (messages: readonly QueueMessage[]) => {
      vi.advanceTimersByTime(1);
      return queue.send(messages);
    };
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { done } = await sendInOrder(how(queue, { forMs: 20, send: takingOneMs }), cellsOf(1, 1000));
      expect(done.get(1)).toBe(20);
      expect(orderOf(queue.accepted, 1)).toHaveLength(20);
    } finally {
      vi.useRealTimers();
    }
  });
});
