import { describe, expect, it } from 'vitest';
import { readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import { repairEpoch, raiseEpoch } from '../../../shared/access/raise-epoch.ts';
import { withoutFingerprints } from '../../support/without-fingerprints.ts';
import { type Deeds, follow, newDeeds, sharedFollowed, startWorker } from './support/followed-store.ts';
import { until } from '../../support/until.ts';
import { select } from '../../support/plain-sql.ts';

const SHARDS = 6;
const followed = await sharedFollowed(SHARDS);
const { datastore, caughtUp, cutAfter } = followed;
const { topologyTable, context, topology } = followed.store;

const forgetEpoch = (shard: number) =>
  followed.change(shard, 'UPDATE schemaless.shard SET epoch = 1 WHERE datastore = ? AND shard = ?', datastore, shard);
const raising = (shard: number) => ({ table: topologyTable, groups: context.groups, datastore, shard });

async function epochs(shard: number): Promise<{ readonly topology: number | undefined; readonly row: number }> {
  const known = 'SELECT epoch FROM schemaless.shard WHERE datastore = ? AND shard = ?';
  const rows = await select(followed.clientOf(shard), known, datastore, shard);
  return { topology: (await readDatastore(topologyTable, datastore))?.homes[shard]?.epoch, row: Number(rows[0]?.[0]) };
}

const cuts = (deeds: Deeds) => deeds.eventsOf('cut');

describe('a log that was cut', () => {
  it('is noticed by every follower, read again from a checkpoint, its epoch raised once, nothing skipped', async () => {
    const [one, other] = [newDeeds(), newDeeds()];
    const workers = [startWorker(followed, one), startWorker(followed, other, { read: 'writer' })];
    for (let round = 0; round < 10; round += 1) await followed.write(1, 10);
    await Promise.all([one, other].map(caughtUp));
    await cutAfter(1, 93);
    await followed.write(1, 20);
    await Promise.all([one, other].map(caughtUp));
    await until('both noticed', () => cuts(one).length > 0 && cuts(other).length > 0);
    expect([cuts(one).length, cuts(other).length]).toEqual([1, 1]);
    for (const { back_to, offset } of [...cuts(one), ...cuts(other)]) {
      expect(offset).toBe(100);
      expect(back_to).toBeGreaterThan(0);
      expect(back_to).toBeLessThanOrEqual(93);
    }
    expect(await epochs(1)).toEqual({ topology: 2, row: 2 });
    await followed.write(1, 5);
    await Promise.all([one, other].map(caughtUp));
    await Promise.all(workers.map((worker) => worker.stop()));
  });

  it('that ends below the offset is judged on the writer, and noticed before new cells come', async () => {
    const { deeds, worker } = follow(followed);
    await followed.write(2, 30);
    await caughtUp(deeds);
    await cutAfter(2, 0);
    await until('noticed', () => cuts(deeds).length === 1);
    expect(cuts(deeds)[0]).toMatchObject({ shard: 2, offset: 30, back_to: 0, epoch: 2 });
    await followed.write(2, 3);
    await caughtUp(deeds);
    await worker.stop();
    expect(await epochs(2)).toEqual({ topology: 2, row: 2 });
  });

  it('is passed over without fingerprints: the control', async () => {
    const { deeds, worker } = follow(followed, { wrap: withoutFingerprints });
    await followed.write(3, 20);
    await caughtUp(deeds);
    await cutAfter(3, 15);
    await followed.write(3, 10);
    await until('the end is handled', () =>
      deeds.handled.some(({ shard, added_id }) => shard === 3 && added_id === 25),
    );
    await worker.stop();
    const skipped = (await followed.stored()).filter((cell) => !deeds.names().has(cell));
    expect(skipped).toHaveLength(5);
    expect(cuts(deeds)).toEqual([]);
  });

  it('goes on from what a crash between the two halves of raising an epoch left', async () => {
    const raise = raising(4);
    expect(await Promise.all(Array.from({ length: 4 }, () => raiseEpoch(raise, 1)))).toEqual([2, 2, 2, 2]);
    expect(await epochs(4)).toEqual({ topology: 2, row: 2 });
    await forgetEpoch(4);
    expect(await raiseEpoch(raise, 1)).toBe(2);
    expect(await epochs(4)).toEqual({ topology: 2, row: 2 });
    expect(await raiseEpoch(raise, 2)).toBe(3);
    const group = (await topology.datastore(datastore))?.homes[4]?.group ?? '';
    expect(await repairEpoch(raise, { group, epoch: 3 })).toBe(false);
  });

  it('a row that a promotion left behind the topology is lifted, so that writes go on', async () => {
    const deeds = newDeeds();
    topology.refresh();
    await followed.write(5, 1);
    await raiseEpoch(raising(5), 1);
    topology.refresh();
    await followed.write(5, 1);
    await forgetEpoch(5);
    await expect(followed.write(5, 1)).rejects.toThrow('unavailable');
    const worker = startWorker(followed, deeds);
    await until('lifted', () => deeds.events.some((event) => event.kind === 'epoch_repaired' && event.shard === 5));
    await followed.write(5, 1);
    await caughtUp(deeds);
    await worker.stop();
    expect(cuts(deeds)).toEqual([]);
    expect(await epochs(5)).toEqual({ topology: 2, row: 2 });
  });
});
