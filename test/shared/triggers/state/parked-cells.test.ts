import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { triggerStore, type TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { fits, troubledShards } from '../../../../shared/triggers/state/troubled-shards.ts';
import type { FailingCell, ParkEnd } from '../../../../shared/triggers/state/trigger-store.ts';
import { messageOf } from '../consume/support/stage.ts';
import { forEachTest, NAME, nextMoment } from './support/each-trigger.ts';

let table: DynamoTable;
let store: TriggerStore;
forEachTest((...made) => ([table, store] = made));

const parked = async (): Promise<readonly FailingCell[]> =>
  (await store.shards(await store.troubled()))
    .flatMap(({ cells }) => cells)
    .filter(({ parked_at }) => parked_at !== undefined);

async function park(shard: number, addedId: number, stopAfterParked = 1000): Promise<ParkEnd> {
  await store.failed(messageOf(shard, addedId), 'no', false);
  return store.park(messageOf(shard, addedId), 'no more', stopAfterParked);
}

describe('parking', () => {
  it('keeps the cell with its attempts and its last error; repeated, it stays as it was', async () => {
    const message = messageOf(17, 5);
    await store.failed(message, 'first', false);
    expect(await store.park(message, 'last', 100)).toBe('parked');
    const [cell] = await parked();
    expect(cell).toMatchObject({ message, attempts: 1, last_error: 'last', round: 0 });
    await nextMoment();
    expect(await store.park(message, 'last', 100)).toBe('parked');
    expect((await parked()).map(({ attempts, parked_at }) => [attempts, parked_at])).toEqual([[1, cell?.parked_at]]);
  });

  it('does nothing while the trigger does not run', async () => {
    await store.failed(messageOf(1, 1), 'no', false);
    await store.setState('paused');
    expect(await store.park(messageOf(1, 1), 'no', 100)).toBe('not_running');
    expect(await parked()).toEqual([]);
  });

  it('stops the trigger at the threshold, over all shards, and again after it was resumed', async () => {
    expect(await park(1, 1, 3)).toBe('parked');
    expect(await park(2, 1, 3)).toBe('parked');
    expect(await park(1, 2, 3)).toBe('parked_and_stopped');
    expect(await store.status()).toMatchObject({
      state: 'stopped',
      reason: '3 cells are parked, which stops it (stop_after_parked: 3)',
    });
    expect(await park(3, 1, 3)).toBe('not_running');
    expect(await parked()).toHaveLength(3);
    await store.resume();
    expect(await park(3, 1, 3)).toBe('parked_and_stopped');
    expect(await store.discard()).toBe(4);
    await store.resume();
    expect(await park(3, 2, 3)).toBe('parked');
  });

  it('by many at once passes the threshold by one for each of them at most, and stops the trigger once', async () => {
    const consumers = 8;
    const ends = await Promise.all(
      Array.from({ length: consumers }, async (_, shard) => {
        const one = triggerStore(table, NAME);
        const mine: ParkEnd[] = [];
        for (let id = 1; id <= 20; id += 1) {
          await one.failed(messageOf(shard, id), 'no', false);
          mine.push(await one.park(messageOf(shard, id), 'no', 20));
          if (mine.at(-1) !== 'parked') break;
        }
        return mine;
      }),
    );
    const count = (await parked()).length;
    expect(count).toBeGreaterThanOrEqual(20);
    expect(count).toBeLessThan(20 + consumers);
    expect(ends.flat().filter((end) => end === 'parked_and_stopped').length).toBeGreaterThanOrEqual(1);
    expect(ends.every((mine) => mine.at(-1) !== 'parked')).toBe(true);
    const status = await store.status();
    expect(status).toMatchObject({ state: 'stopped' });
    expect(Number(/^\d+/u.exec(status.reason ?? '')?.[0])).toBeLessThanOrEqual(count);
  });

  it('does not stop a trigger that was resumed since its cells were counted', async () => {
    const never = await store.status();
    await store.setState('stopped', 'as counted');
    const stopped = await store.status();
    await nextMoment();
    await store.resume();
    for (const seen of [never, { ...stopped, state: 'running' as const }])
      await store.stopRunning(seen, 'counted before');
    expect((await store.status()).state).toBe('running');
    await store.stopRunning(await store.status(), 'counted since');
    expect(await store.status()).toMatchObject({ state: 'stopped', reason: 'counted since' });
  });

  it('stops the trigger where one shard has more than can be kept of it, and parks nothing that would be lost', async () => {
    const at = new Date().toISOString();
    const noise = (addedId: number): FailingCell => ({
      message: messageOf(6, addedId, { column_name: randomBytes(127).toString('hex') }),
      attempts: 5,
      first_failed_at: at,
      last_failed_at: at,
      last_error: randomBytes(375).toString('base64'),
      round: 0,
      parked_at: at,
    });
    const cells: FailingCell[] = [];
    while (fits(cells)) cells.push(...Array.from({ length: 20 }, (_, n) => noise(cells.length + n)));
    while (!fits(cells)) cells.pop();
    // Noise is deflated a little more or less each time: room for a few, whatever they are.
    cells.splice(-4);
    await troubledShards(table, NAME).change(6, () => ({ next: { cells }, result: undefined }));
    const ends: ParkEnd[] = [];
    do ends.push(await store.park(noise(1000 + ends.length).message, noise(0).last_error, 10_000));
    while (ends.at(-1) === 'parked' && ends.length < 30);
    expect(ends.at(-1)).toBe('not_running');
    expect(ends.length).toBeGreaterThan(1);
    expect(await store.status()).toMatchObject({
      state: 'stopped',
      reason: 'shard 6 has as many parked cells as can be kept of one shard',
    });
    expect(await parked()).toHaveLength(cells.length + ends.length - 1);
    // Another one may still fail there.
    expect(await store.failed(messageOf(6, 5000), 'no', false)).toBe(1);
  });
});

describe('a retry of parked cells', () => {
  it('is taken by one, however many try, and the round goes up', async () => {
    await park(1, 1);
    await store.wantRetry();
    const [cell] = await parked();
    if (!cell) throw new Error('nothing is parked');
    const taken = await Promise.all(Array.from({ length: 8 }, () => triggerStore(table, NAME).takeRetry(cell)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const [sent] = await parked();
    expect(sent).toMatchObject({ round: 1, retry: 'sent', retried_at: expect.any(String) });
    expect(sent && (await store.takeRetry(sent))).toBe(true);
    expect((await parked())[0]?.round).toBe(2);
    await store.discard();
    expect(await store.takeRetry({ ...cell, round: 2 })).toBe(false);
  });

  it('that fails leaves the cell parked, with the new error; a request made during it stays', async () => {
    const [message, replay] = [messageOf(1, 1), messageOf(1, 1, { replay: true })];
    await store.failed(message, 'no', false);
    await store.park(message, 'no', 100);
    const retry = async (): Promise<void> => {
      await store.wantRetry();
      const [cell] = await parked();
      expect(cell && (await store.takeRetry(cell))).toBe(true);
    };
    await retry();
    await store.retryFailed(replay, 'still no');
    expect((await parked())[0]).toMatchObject({ attempts: 2, last_error: 'still no', round: 1 });
    expect((await parked())[0]?.retry).toBeUndefined();
    await retry();
    await store.wantRetry();
    await store.retryFailed(replay, 'still no');
    expect((await parked())[0]).toMatchObject({ attempts: 3, retry: 'wanted', round: 2 });
    await store.succeeded(replay);
    expect(await parked()).toEqual([]);
    expect(await store.troubled()).toEqual([]);
  });

  it('that fails after its cell was discarded brings nothing back', async () => {
    await park(1, 1);
    expect(await store.discard([{ shard: 1, added_id: 1 }])).toBe(1);
    await store.retryFailed(messageOf(1, 1, { replay: true }), 'no');
    expect(await parked()).toEqual([]);
  });
});
