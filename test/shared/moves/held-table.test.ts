import { expect, it } from 'vitest';
import { copyDatabase, shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { dropRetired } from '../../../shared/index/repair/drop-retired.ts';
import type { RepairWork } from '../../../shared/index/repair/repair-work.ts';
import { noteVerified, verifiedEpochs } from '../../../shared/index/repair/verified-epochs.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { setIndexState } from '../../../shared/topology/index-catalogue.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { openMover } from './support.ts';

/** What others do with the tables of a shard while it is moved. */
const { store, trips, name, rowIn } = await sharedTrips(2, { indexes: [indexOn('by_city', { city: 'string' })] });
const SHARD = 0;

const newCell = (): NewCell => ({ row_key: rowIn(SHARD), column_name: 'BASE', ref_key: 1, body: { city: 'Berlin' } });

async function tablesOf(group: string, database: string): Promise<string[]> {
  const sql = 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?';
  return (await select(store.client(group), sql, database)).map(([table]) => toText(table)).sort();
}

it('a switch beside an open transaction closes no shard, and is done once it has ended', async () => {
  await using mover = await openMover(store, 'trips');
  await trips.put(newCell());
  const { group } = await mover.home(SHARD);
  await mover.follow(SHARD, (await mover.others(SHARD))[0]);
  const session = await connectionTo(group);
  await session.query('START TRANSACTION');
  await session.query(`SELECT COUNT(*) FROM \`${shardDatabase(name, SHARD)}\`.entity`);
  const stumbled: unknown[] = [];
  mover.start({ report: (_, error) => error !== undefined && stumbled.push(error) });
  await mover.operations.switchMove({ shard: SHARD });
  const { step, closed_ms } = await mover.until(SHARD, ({ last_error }) => last_error !== null);
  expect([step, closed_ms]).toEqual(['following', []]);
  // Each try is counted, so that an alarm can tell of one that never comes to an end.
  await expect.poll(() => stumbled.length).toBeGreaterThan(0);
  // A try keeps writes waiting for a second, after which they are buffered; between tries they are stored.
  await expect.poll(async () => (await trips.put(newCell())).outcome).toBe('stored');
  expect(await mover.home(SHARD)).toMatchObject({ group });
  await session.query('COMMIT');
  await session.end();
  await mover.switched(SHARD);
  await mover.complete(SHARD);
});

it('a switch asks for no comparison of the indexes, unless a cut before it is not verified yet', async () => {
  await using mover = await openMover(store, 'trips');
  const verified = async () => (await verifiedEpochs(mover.stateTable, name, [SHARD]))(SHARD);
  const before = (await mover.home(SHARD)).epoch;
  await noteVerified(mover.stateTable, name, SHARD, before);
  mover.start();
  await mover.move(SHARD, (await mover.others(SHARD))[0]);
  const { epoch } = await mover.home(SHARD);
  await expect.poll(verified).toBe(epoch);
  await mover.complete(SHARD);

  await noteVerified(mover.stateTable, name, SHARD, epoch - 1);
  await mover.move(SHARD, (await mover.others(SHARD))[0]);
  await mover.complete(SHARD);
  expect(await verified()).toBe(epoch - 1);
});

it('an index that is dropped while a shard has a copy leaves no table there, nor one that a switch brings', async () => {
  await using mover = await openMover(store, 'trips');
  await trips.put(newCell());
  const [to] = await mover.others(SHARD);
  const { group } = await mover.home(SHARD);
  await mover.follow(SHARD, to);
  const [version] = (await store.topology.indexes(name))[0]?.versions ?? [];
  const table = indexTableName('by_city', version?.hash ?? '');
  await mover.until(SHARD, () => true);
  expect(await tablesOf(to, copyDatabase(name, SHARD))).toEqual(['entity', table].sort());
  await setIndexState(
    store.topologyTable,
    { datastore: name, name: 'by_city' },
    version?.hash ?? '',
    'live',
    'retired',
  );
  const work = {
    context: store.context,
    topologyTable: store.topologyTable,
    stateTable: mover.stateTable,
    datastore: name,
    settings: { retiredForMs: 0 },
    indexes: { catalogues: () => dynamoTopology(store.topologyTable).indexes(name) },
    report: () => undefined,
  } as unknown as RepairWork;
  await dropRetired(work, leases(mover.stateTable, 'a test', 2000), 1000, new AbortController().signal);
  expect(await tablesOf(to, copyDatabase(name, SHARD))).toEqual(['entity']);
  expect(await tablesOf(group, shardDatabase(name, SHARD))).toEqual(['entity']);

  // As one that came back with a group that failed over.
  await change(store.client(to), `CREATE TABLE ${copyDatabase(name, SHARD)}.${table} (f0 INT)`);
  mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await mover.switched(SHARD);
  expect(await tablesOf(to, shardDatabase(name, SHARD))).toEqual(['entity']);
  await mover.complete(SHARD);
});
