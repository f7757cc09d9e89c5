import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { copyOf } from '../../support/copy-of.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 96;
let [bringing, most] = [0, 0];

const { store, name, primary, groupOf, hintHolder, holder } = await sharedTrips(SHARDS, {
  wrap: (client) => ({
    ...client,
    async select(statement, target) {
      if (!/\bbody, .*FROM `schemaless`\.buffer/u.test(statement.sql)) return client.select(statement, target);
      bringing += 1;
      most = Math.max(most, bringing);
      await sleep(20); // Clock: a fake that is busy
      bringing -= 1;
      return client.select(statement, target);
    },
  }),
});

it('of few shards at a time are bodies in memory, of however many rows wait', async () => {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => groupOf(shard) === primary);
  expect(shards.length).toBeGreaterThan(24);
  const cells = shards.map((shard) => {
    return copyOf(cellOf({ row_key: rowsOfShard(shard, SHARDS, 1)[0] ?? '' }), shard);
  });
  await holder.change(insertBuffered(name, cells));
  const { appended } = await drainPass(store.context, hintHolder, () => true, { minimumAgeSeconds: 0 });
  expect(appended).toBe(shards.length);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(16);
});
