import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { shardOfValue } from '../../../../shared/definitions/field-value.ts';
import { pendingMarks } from '../../../../shared/index/repair/pending-marks.ts';
import { watchPending } from '../../../../shared/index/repair/catch-up.ts';
import type { RepairWork } from '../../../../shared/index/repair/repair-work.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import { until } from '../../../support/until.ts';
import { openMover } from '../../moves/support.ts';
import { noEntries } from './support/entry-writes.ts';
import { changeable, sharedIndexed } from './support/indexed-store.ts';

const SHARDS = 6;
const { between, wrap } = changeable();
const indexed = await sharedIndexed(SHARDS, wrap);
const { store, datastore, stateTable } = indexed;

it('gives a shard that moved away from a group the entries that the group had missed', async () => {
  const driver = randomUUID();
  const shard = shardOfValue(driver, 'UUID', SHARDS);
  between.now = noEntries;
  await indexed.write(Array.from({ length: 12 }, () => ({ row_key: randomUUID(), body: { driver } })));
  between.now = (client) => client;
  await using mover = await openMover(store, 'trips');
  const { group } = await mover.home(shard);
  const pending = pendingMarks(stateTable, datastore);
  await pending.mark(group, new Map(Array.from({ length: SHARDS }, (_, each) => [each, 1])));
  mover.start();
  await mover.move(shard, (await mover.others(shard))[0]);
  await mover.complete(shard);
  expect(await indexed.problems(), 'the copy lacks them, too').toHaveLength(12);
  const work = {
    context: { ...store.context, topology: dynamoTopology(store.topologyTable) },
    datastore,
    indexes: { maintained: async () => [await indexed.live()] },
    away: new Set(),
    slow: new Set(),
    report: () => undefined,
  } as unknown as RepairWork;
  const look = watchPending(work, pending, new AbortController().signal);
  await until('no mark is left', async () => {
    await look();
    return (await pending.read(group, SHARDS)).length === 0;
  });
  expect(await indexed.problems()).toEqual([]);
});
