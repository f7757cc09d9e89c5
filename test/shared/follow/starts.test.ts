import { describe, expect, it } from 'vitest';
import type { StartLocation } from '../../../shared/follow/follower.ts';
import { follow, newDeeds, sharedFollowed, startWorker } from './support/followed-store.ts';
import { until } from '../../support/until.ts';

const SHARDS = 3;
const followed = await sharedFollowed(SHARDS);
const { headOf } = followed;

const LATER: StartLocation = { since: '2100-01-01T00:00:00Z' };

describe('where a follower begins', () => {
  it.each<[string, StartLocation]>([
    ['now', 'now'],
    ['at a time', LATER],
  ])('is settled once, and nothing is skipped when its first worker dies before a commit (%s)', async (_, start) => {
    await followed.write(0, 5);
    const deeds = newDeeds();
    const head = await headOf(0);
    const first = startWorker(followed, deeds, { follower: { start }, commitEveryMs: 60_000 });
    const items = followed.items(deeds);
    await until('the first worker holds all', async () =>
      (await Promise.all([0, 1, 2].map((partition) => items.read(partition)))).every(
        (item) => item?.owner === first.owner,
      ),
    );
    await followed.begun(deeds);
    await followed.write(0, 5);
    await until('the first worker has handled them', () => deeds.idsOf(0, first.owner).length === 5);
    first.gate.state = 'paused';
    await followed.write(0, 5);
    const second = startWorker(followed, deeds, { follower: { start } });
    await followed.write(0, 5);
    await until('the second worker has come to the end', () => deeds.idsOf(0, second.owner).at(-1) === head + 15);
    expect(deeds.idsOf(0, second.owner)).toEqual(Array.from({ length: 15 }, (_, n) => head + 1 + n));
    await second.stop();
    first.gate.state = 'open';
    await first.stop();
  });

  it('is kept before anything is handled: while it cannot be, nothing is', async () => {
    const { deeds, worker } = follow(followed, { follower: { start: 'now' } });
    worker.gate.state = 'no-commits';
    const [before] = await Promise.all([headOf(0), until('it tried', () => deeds.eventsOf('state_failed').length > 0)]);
    await followed.write(0, 5);
    const { refused } = worker.gate;
    await until('it tried again', () => worker.gate.refused > refused + 2);
    expect([deeds.handled, await followed.offsets(deeds)]).toEqual([[], [undefined, undefined, undefined]]);
    worker.gate.state = 'open';
    await until('it begins where it had polled first', () => deeds.handled.length === 5);
    await worker.stop();
    expect(deeds.idsOf(0, worker.owner)).toEqual([1, 2, 3, 4, 5].map((n) => before + n));
  });

  it('is a place behind one certain cell: another that takes it, after the log was cut, is given', async () => {
    await followed.write(1, 3);
    const { deeds, worker } = follow(followed, { read: 'writer', follower: { start: 'now' } });
    worker.gate.state = 'no-commits';
    await until('it polled', () => deeds.eventsOf('state_failed').length > 0);
    const head = await headOf(1);
    await followed.cutAfter(1, head - 1);
    await followed.write(1, 1);
    expect(await headOf(1)).toBe(head);
    worker.gate.state = 'open';
    await until('the other one is given', () =>
      deeds.handled.some(({ shard, added_id }) => shard === 1 && added_id === head),
    );
    await worker.stop();
    expect(deeds.eventsOf('cut')).toMatchObject([{ shard: 1, offset: head }]);
  });

  it('is that of the worker whose write counts, where one was paused between poll and write', async () => {
    const deeds = newDeeds();
    const late = startWorker(followed, deeds, { follower: { start: 'now' } });
    late.gate.state = 'no-commits';
    await until('the first one polled', () => deeds.eventsOf('state_failed').length > 0);
    late.gate.state = 'paused';
    await followed.write(0, 5);
    const head = await headOf(0);
    const worker = startWorker(followed, deeds, { follower: { start: 'now' } });
    await followed.begun(deeds);
    await followed.write(0, 2);
    await until('it handles', () => deeds.handled.length === 2);
    late.gate.state = 'open';
    await until('the first one notices', () => deeds.eventsOf('partition_lost').length > 0);
    await Promise.all([late.stop(), worker.stop()]);
    expect(deeds.idsOf(0, worker.owner)).toEqual([head + 1, head + 2]);
    expect(deeds.idsOf(0, late.owner)).toEqual([]);
  });
});
