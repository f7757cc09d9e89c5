import { describe, expect, it } from 'vitest';
import type { ShardOffset } from '../../../shared/follow/offsets.ts';
import { HeldPartition } from '../../../shared/follow/held-partition.ts';
import { OffsetItems } from '../../../shared/follow/offset-items.ts';
import { unread } from '../../../shared/follow/start-offsets.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { sharedTable } from '../../support/shared-table.ts';
import { withoutCommitFence, withoutGenerationFence } from '../../support/without-fences.ts';

const fingerprint = '0123456789abcdef';
let follower = 0;

const table = await sharedTable();

function newItems(through = (all: DynamoTable): DynamoTable => all) {
  follower += 1;
  return new OffsetItems(through(table), { name: `f${follower}`, datastore: 'trips', shards: 4, partitions: 2 });
}

async function holder(items: OffsetItems, owner: string, others: readonly string[] = []) {
  const taken = await items.take(1, owner, others);
  return taken && new HeldPartition(items, 1, taken, 2, await items.readCheckpoints(1));
}

async function bothHeld(items: OffsetItems) {
  const held = await holder(items, 'a');
  const [shard, other] = held?.shards ?? [];
  if (!held || !shard || !other) throw new Error('not held');
  return { held, shard, other };
}

type Held = NonNullable<Awaited<ReturnType<typeof holder>>>;

const at = (added_id: number, more: { readonly epoch?: number; readonly given?: number } = {}): ShardOffset => ({
  added_id,
  fingerprint,
  epoch: 1,
  ...more,
});

function move(held: Held | undefined, added_id: number, tenure = held?.tenure()): void {
  const [shard] = held?.shards ?? [];
  if (!held || !shard || !tenure) throw new Error('not held');
  held.move(shard, at(added_id), tenure);
}

const reached = async (items: OffsetItems): Promise<number | undefined> => (await items.read(1))?.offsets[0]?.added_id;

describe('the offsets of a partition', () => {
  it('say which cells were given last, until something else moves them', async () => {
    const items = newItems();
    const { token = 0, generation = 0 } = (await items.take(1, 'a', [])) ?? {};
    const given = async (): Promise<(number | undefined)[] | undefined> =>
      (await items.read(1))?.offsets.map((offset) => offset?.given);
    await items.commit(1, { token, generation }, [at(9, { given: 4 }), at(2, { given: 0 })]);
    expect(await given()).toEqual([4, 0]);
    await items.commit(1, { token, generation }, [at(12, { given: 11 }), undefined]);
    expect(await given()).toEqual([11, undefined]);
    await items.rewind(1, () => [unread(3), undefined]);
    expect(await given()).toEqual([undefined, undefined]);
  });

  it('are taken by one, and not while a worker that lives holds them', async () => {
    const items = newItems();
    expect(await items.take(1, 'a', [])).toMatchObject({ token: 1, generation: 0, offsets: [undefined, undefined] });
    expect(await items.take(1, 'b', ['a'])).toBeUndefined();
    expect(await items.take(1, 'b', ['c'])).toMatchObject({ token: 2, owner: 'b' });
    await items.release(1, 1);
    expect(await items.take(1, 'c', ['b'])).toBeUndefined();
    await items.release(1, 2);
    expect(await items.take(1, 'c', ['b'])).toMatchObject({ token: 3 });
  });

  it('are taken by one alone of many who find them free at once, however many others there are', async () => {
    const items = newItems();
    const owners = Array.from({ length: 150 }, (_, n) => `worker-${n}`);
    const taken = await Promise.all(
      owners.slice(0, 20).map((owner) =>
        items.take(
          1,
          owner,
          owners.filter((other) => other !== owner),
        ),
      ),
    );
    const holders = taken.filter((item) => item !== undefined);
    expect(holders.map(({ token }) => token)).toEqual([1]);
    // Its own answer may have been lost: it takes it again.
    expect(
      await items.take(
        1,
        holders[0]?.owner ?? '',
        owners.filter((other) => other !== holders[0]?.owner),
      ),
    ).toMatchObject({ token: 2 });
  });

  it.each([
    [true, undefined, 20],
    [false, withoutCommitFence, 10],
  ])('do not go back when a paused lease holder commits (fenced: %s)', async (fenced, through, expected) => {
    const items = newItems(through);
    const paused = await holder(items, 'paused');
    move(paused, 10);
    const next = await holder(items, 'next');
    move(next, 20);
    await next?.commit();
    await paused?.commit();
    expect(await reached(items)).toBe(expected);
    expect(paused?.isLost()).toBe(fenced);
  });

  it.each([
    ['fenced', undefined, 3],
    ['not fenced', withoutCommitFence, 30],
    ['not by generation', withoutGenerationFence, 30],
  ])('stay where a rewind put them, while a worker holds them (%s)', async (_fence, through, expected) => {
    const items = newItems(through);
    const held = await holder(items, 'a');
    move(held, 20);
    await held?.commit();
    const before = held?.tenure();
    await items.rewind(1, ([first, ...others]) => [first && { ...first, added_id: 3 }, ...others]);
    // A page that was under way ends, and is committed.
    move(held, 30);
    await held?.commit();
    expect(await reached(items)).toBe(expected);
    if (through) return;
    expect([held?.isLost(), held?.tenure().generation, held?.shards[0]?.offset?.added_id]).toEqual([false, 1, 3]);
    move(held, 40, before);
    expect(held?.hasMoved()).toBe(false);
    move(held, 4);
    await held?.commit();
    expect(await reached(items)).toBe(4);
  });

  it('go back where a log was cut under the next generation, written at once: pages that were under way do not count', async () => {
    const items = newItems();
    const { held, shard, other } = await bothHeld(items);
    move(held, 20);
    held.move(other, at(7), held.tenure());
    const before = held.tenure();
    expect(await held.goBack(shard, at(3, { epoch: 2 }), before)).toBe(true);
    expect(await items.read(1)).toMatchObject({ generation: 1, offsets: [{ added_id: 3 }, { added_id: 7 }] });
    move(held, 30, before);
    expect([held.tenure().generation, shard.offset?.added_id, await held.goBack(shard, unread(1), before)]).toEqual([
      1,
      3,
      false,
    ]);
    await items.rewind(1, ([, next]) => [unread(2), next]);
    expect(await held.goBack(shard, unread(1), held.tenure())).toBe(false);
    expect([held.tenure().generation, shard.offset?.added_id]).toEqual([2, 2]);
  });

  it('begin with what is written: a start counts from then on, and its cell is a place to go back to once it is known', async () => {
    const items = newItems();
    const { held, shard, other } = await bothHeld(items);
    held.startAt(shard, unread(7), held.tenure());
    expect([shard.offset, held.hasMoved()]).toEqual([undefined, true]);
    await held.commit();
    expect([shard.offset?.added_id, other.offset, held.hasMoved(), shard.checkpoints]).toEqual([
      7,
      undefined,
      false,
      [],
    ]);
    held.startAt(shard, unread(9), held.tenure());
    expect([shard.offset?.added_id, held.hasMoved()]).toEqual([7, false]);
    move(held, 7);
    move(held, 8);
    expect(shard.checkpoints).toMatchObject([
      { added_id: 7, fingerprint },
      { added_id: 8, fingerprint },
    ]);
    held.startAt(other, unread(5), held.tenure());
    await items.rewind(1, ([first]) => [first, unread(2)]);
    await held.commit();
    expect([other.offset?.added_id, (await items.read(1))?.offsets[1]?.added_id]).toEqual([2, 2]);
  });

  it('are written only when something moved, and all of it by a release', async () => {
    const items = newItems();
    const held = await holder(items, 'a');
    expect(held?.hasMoved()).toBe(false);
    move(held, 5);
    move(held, 9);
    await held?.saveCheckpoints();
    await held?.release();
    expect(await items.read(1)).toMatchObject({ owner: '', token: 1 });
    const next = await holder(items, 'b');
    expect(next?.shards[0]).toMatchObject({
      shard: 1,
      offset: { added_id: 9 },
      checkpoints: [{ added_id: 5 }, { added_id: 9 }],
    });
    expect(next?.hasMoved()).toBe(false);
  });
});
