import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { committedOffsets } from '../../../shared/follow/follower-lag.ts';
import type { StartPlace } from '../../../shared/follow/follower.ts';
import { offsetItems } from '../../../shared/follow/offset-items.ts';
import {
  newDeeds,
  openFollowedStore,
  startWorker,
  until,
  type Deeds,
  type FollowedStore,
} from './support/followed-store.ts';

const SHARDS = 3;
let followed: FollowedStore;

beforeAll(async () => {
  followed = await openFollowedStore(SHARDS);
});
afterAll(() => followed.close());

const idsOf = (deeds: Deeds, owner: string): number[] =>
  deeds.handled.filter((cell) => cell.shard === 0 && cell.owner === owner).map(({ added_id }) => added_id);
const committed = (deeds: Deeds): Promise<(number | undefined)[]> =>
  committedOffsets(followed.stateTable, { name: deeds.name, datastore: followed.datastore }, SHARDS);

async function headOf(shard: number): Promise<number> {
  const head = (await followed.trips.heads())[shard];
  if (!head || head.error) throw new Error(`no head of ${shard}`);
  return head.head;
}

/** In the future: every cell that there is lies before it, and those that come, too. */
const LATER: StartPlace = { since: '2100-01-01T00:00:00Z' };

describe('where a follower begins', () => {
  it.each<[string, StartPlace]>([
    ['now', 'now'],
    ['at a time', LATER],
  ])('is settled once, and nothing is skipped when its first worker dies before a commit (%s)', async (_, start) => {
    await followed.write(0, 5);
    const deeds = newDeeds();
    const head = await headOf(0);
    const first = startWorker(followed, deeds, { follower: { start }, commitEveryMs: 60_000 });
    const items = offsetItems(followed.stateTable, {
      name: deeds.name,
      datastore: followed.datastore,
      shards: SHARDS,
      partitions: SHARDS,
    });
    await until('the first worker holds all', async () =>
      (await Promise.all([0, 1, 2].map((partition) => items.read(partition)))).every(
        (item) => item?.owner === first.owner,
      ),
    );
    await until('it knows where they begin', async () =>
      (await committed(deeds)).every((offset) => offset !== undefined),
    );
    await followed.write(0, 5);
    await until('the first worker has handled them', () => idsOf(deeds, first.owner).length === 5);
    first.gate.state = 'paused';
    await followed.write(0, 5);
    const second = startWorker(followed, deeds, { follower: { start } });
    await followed.write(0, 5);
    await until('the second worker has come to the end', () => idsOf(deeds, second.owner).at(-1) === head + 15);
    expect(idsOf(deeds, second.owner)).toEqual(Array.from({ length: 15 }, (_, n) => head + 1 + n));
    await second.stop();
    first.gate.state = 'open';
    await first.stop();
  });

  it('is kept before anything is handled: while it cannot be, nothing is', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds, { follower: { start: 'now' } });
    worker.gate.state = 'no-commits';
    const [before] = await Promise.all([
      headOf(0),
      until('it tried', () => deeds.events.some(({ kind }) => kind === 'state_failed')),
    ]);
    await followed.write(0, 5);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([deeds.handled, await committed(deeds)]).toEqual([[], [undefined, undefined, undefined]]);
    worker.gate.state = 'open';
    await until('it begins where it had looked first', () => deeds.handled.length === 5);
    await worker.stop();
    expect(idsOf(deeds, worker.owner)).toEqual([1, 2, 3, 4, 5].map((n) => before + n));
  });

  it('is a place behind one certain cell: another that takes it, after the log was cut, is given', async () => {
    await followed.write(1, 3);
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds, { read: 'writer', follower: { start: 'now' } });
    worker.gate.state = 'no-commits';
    await until('it looked', () => deeds.events.some(({ kind }) => kind === 'state_failed'));
    const head = await headOf(1);
    await (
      await followed.groupOf(1)
    ).change({ sql: `DELETE FROM \`${followed.datastore}_0001\`.entity WHERE added_id = ?`, parameters: [head] });
    await followed.write(1, 1);
    expect(await headOf(1)).toBe(head);
    worker.gate.state = 'open';
    await until('the other one is given', () =>
      deeds.handled.some(({ shard, added_id }) => shard === 1 && added_id === head),
    );
    await worker.stop();
    expect(deeds.events.filter(({ kind }) => kind === 'cut')).toMatchObject([{ shard: 1, offset: head }]);
  });

  it('is that of the worker whose write counts, where one was paused between look and write', async () => {
    const deeds = newDeeds();
    const late = startWorker(followed, deeds, { follower: { start: 'now' } });
    late.gate.state = 'no-commits';
    await until('the first one looked', () => deeds.events.some(({ kind }) => kind === 'state_failed'));
    late.gate.state = 'paused';
    await followed.write(0, 5);
    const head = await headOf(0);
    const worker = startWorker(followed, deeds, { follower: { start: 'now' } });
    await until('the second one begins', async () => (await committed(deeds)).every((offset) => offset !== undefined));
    await followed.write(0, 2);
    await until('it handles', () => deeds.handled.length === 2);
    late.gate.state = 'open';
    await until('the first one notices', () => deeds.events.some(({ kind }) => kind === 'partition_lost'));
    await Promise.all([late.stop(), worker.stop()]);
    expect(idsOf(deeds, worker.owner)).toEqual([head + 1, head + 2]);
    expect(idsOf(deeds, late.owner)).toEqual([]);
  });
});
