import { describe, expect, it } from 'vitest';
import { decline, messageOf, sharedStages, type Stage } from './support/stage.ts';

const open = await sharedStages();

const markOf = async ({ store }: Stage, shard: number) => (await store.shards([shard]))[0]?.mark?.added_id;

async function consumeLate(stage: Stage, lateMs: number): Promise<void> {
  await stage.consume(stage.receive().map((record) => ({ ...record, sentAt: record.sentAt - lateMs })));
}

describe('the mark of a shard', () => {
  it('is set and cleared with what is kept of the cell, with no request of its own', async () => {
    let failures = 1;
    const stage = await open({
      store: () => ({ mark: () => Promise.reject(new Error('asked by itself')) }),
      fn: (_rowKey, { added_id }) => (added_id === 2 && failures-- > 0 ? decline() : undefined),
    });
    stage.send(messageOf(17, 2));
    await stage.consume();
    expect(await markOf(stage, 17)).toBe(2);
    await stage.consume();
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
    expect(stage.events.filter(({ kind }) => kind === 'state_unavailable')).toEqual([]);
  });

  it('is cleared when the cell is parked', async () => {
    const stage = await open({ definition: { maxAttempts: 1 }, fn: decline });
    stage.send(messageOf(17, 1));
    await stage.consume();
    expect(await markOf(stage, 17)).toBeUndefined();
  });

  it('is set where messages wait for more than a minute, every ten seconds at most', async () => {
    const stage = await open();
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    await consumeLate(stage, 61_000);
    expect([await markOf(stage, 17), await markOf(stage, 4)]).toEqual([1, 1]);
    stage.send(messageOf(5, 1));
    await consumeLate(stage, 59_000);
    expect(await markOf(stage, 5)).toBeUndefined();
  });

  it('moves on while messages wait for more than half a minute, and goes when they do not', async () => {
    const stage = await open({ settings: { markEveryMs: 0, statusMs: 0 } });
    await stage.store.mark(17, 1);
    stage.send(messageOf(17, 5), messageOf(17, 6));
    await consumeLate(stage, 31_000);
    expect(await markOf(stage, 17)).toBe(6);
    stage.send(messageOf(17, 7));
    await consumeLate(stage, 29_000);
    expect(await markOf(stage, 17)).toBeUndefined();
  });

  it('stays while a cell further on has failed and is not parked yet, as after a rewind', async () => {
    const stage = await open({ settings: { statusMs: 0 } });
    await stage.store.failed(messageOf(17, 9), 'card declined', false);
    await stage.store.mark(17, 9);
    stage.send(messageOf(17, 3, { replay: true }));
    await stage.consume();
    expect(await markOf(stage, 17)).toBe(9);
    stage.send(messageOf(17, 9));
    await stage.consume();
    expect(await stage.store.status()).toMatchObject({ troubled_blocks: [] });
  });

  it('goes although cells further on are parked, and although one before failed that the queue has given up', async () => {
    const stage = await open({ settings: { statusMs: 0 } });
    await stage.store.failed(messageOf(17, 9), 'card declined', false);
    await stage.store.park(messageOf(17, 9), 'card declined', 100);
    await stage.store.failed(messageOf(17, 1), 'card declined', false);
    await stage.store.mark(17, 1);
    stage.send(messageOf(17, 3));
    await stage.consume();
    expect(await markOf(stage, 17)).toBeUndefined();
  });

  it('is not needed: without it cells are consumed as ever', async () => {
    const stage = await open({ store: () => ({ mark: () => Promise.reject(new Error('no DynamoDB')) }) });
    stage.send(messageOf(17, 1));
    await consumeLate(stage, 61_000);
    expect(stage.called).toEqual(['17/1']);
    expect(stage.events).toContainEqual({ kind: 'state_unavailable', error: new Error('no DynamoDB') });
    expect(stage.depth()).toBe(0);
  });
});
