import { describe, expect, it } from 'vitest';
import { MAX_SHARDS } from '../../../shared/definitions/definitions.ts';
import { defaultPartitions, openFollower } from '../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../shared/follow/offset-items.ts';
import { createDatastore, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import { sharedTable } from '../../support/shared-table.ts';

const FINGERPRINT = '0123456789abcdef';
/** A year of a thousand cells a second in one shard. */
const MANY = 31_536_000_000;

const table = await sharedTable();

describe('the state of the largest datastore, in items of 400 KB at most', () => {
  it('fits: the offsets and checkpoints of as many shards as a partition may have', async () => {
    const follower = { name: 'largest', datastore: 'trips' };
    await expect(openFollower(table, follower, MAX_SHARDS, 63)).rejects.toThrow('wanted an integer from 64');
    const { partitions } = await openFollower(table, follower, MAX_SHARDS);
    const items = new OffsetItems(table, { ...follower, shards: MAX_SHARDS, partitions });
    const taken = await items.take(0, 'worker', []);
    if (!taken) throw new Error('not taken');
    expect(taken.offsets).toHaveLength(1024);
    expect(
      await items.commit(
        0,
        taken,
        taken.offsets.map(() => ({ added_id: MANY, fingerprint: FINGERPRINT, epoch: 1000 })),
      ),
    ).toBe(true);
    const checkpoints = Array.from({ length: 17 }, (_, n) => ({
      added_id: Math.floor((MANY / 17) * (n + 1)),
      fingerprint: FINGERPRINT,
    }));
    await items.writeCheckpoints(
      0,
      taken.offsets.map(() => checkpoints),
    );
    expect((await items.readCheckpoints(0))[1023]).toEqual(checkpoints);
  });

  it('fits: the location of each of its shards', async () => {
    const homes = Array.from({ length: MAX_SHARDS }, (_, shard) => ({
      group: `group-${shard % 100}`,
      epoch: 1 + (shard % 99),
    }));
    await createDatastore(table, { datastore: 'largest', shards: MAX_SHARDS, homes });
    expect((await readDatastore(table, 'largest'))?.homes[MAX_SHARDS - 1]).toEqual(homes.at(-1));
  });
});

it('a new follower has one partition for 8 shards, as many as shards up to 8, and no more than 64', () => {
  const shards = [1, 5, 8, 16, 64, 65, 256, 512, 4096, MAX_SHARDS];
  expect(shards.map((count) => defaultPartitions(count))).toEqual([1, 5, 8, 8, 8, 9, 32, 64, 64, 64]);
});
