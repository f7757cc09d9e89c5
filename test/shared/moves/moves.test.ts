import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyDatabase, shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { dropRetired } from '../../../shared/index/repair/drop-retired.ts';
import type { RepairWork } from '../../../shared/index/repair/repair-work.ts';
import { noteVerified, verifiedEpochs } from '../../../shared/index/repair/verified-epochs.ts';
import { setIndexState } from '../../../shared/topology/index-catalogue.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { openContext } from '../../../shared/access/context.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { PROTECTIONS } from '../../faults/without/protections.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import type { RealStore } from '../../support/real-store.ts';
import { moveDying } from './dying-mover.ts';
import { openMover, tablesOn, type Mover } from './support.ts';

const opened = await sharedTrips(3, { indexes: [indexOn('by_city', { city: 'string' })] });
const { store, trips, name, rowIn, logOf } = opened;

let mover: Mover;
beforeEach(async () => {
  mover = await openMover(store, 'trips');
});
afterEach(() => mover[Symbol.asyncDispose]());

const cellOf = (shard: number, body: NewCell['body'] = { city: 'Berlin' }): NewCell => ({
  row_key: rowIn(shard),
  column_name: 'BASE',
  ref_key: 1,
  body,
});

async function put(shard: number, body?: NewCell['body']): Promise<NewCell> {
  const cell = cellOf(shard, body);
  expect(['stored', 'buffered']).toContain((await trips.put(cell)).outcome);
  return cell;
}

async function expectBodies(cells: readonly NewCell[]): Promise<void> {
  for (const cell of cells) expect((await trips.get(cell)).cell?.body).toEqual(cell.body);
}

const entriesOf = async (city: string) =>
  (await trips.query({ index: 'by_city', where: { city }, limit: 100 })).entries;

const contextWithout = (protection: 'leaving' | 'copying', store: RealStore) =>
  openContext({
    topology: dynamoTopology(store.topologyTable),
    connect: ({ name: group }) => PROTECTIONS[protection](store.client(group), () => undefined),
    bufferCopies: 1,
  });

describe('a shard that is moved', () => {
  it('has the same log, the same entries and the same digest elsewhere, and takes writes there', async () => {
    for (let number = 0; number < 30; number += 1) await put(0, { city: 'Rome', number, note: 'x'.repeat(number) });
    const [before, digest, from] = [await logOf(0), await trips.digest({ shard: 0 }), await mover.home(0)];
    const [to] = await mover.others(0);
    mover.start();
    expect(await mover.move(0, to)).toMatchObject({ from: to, to: from.group, restarts: 0, last_error: null });
    // A switch that was given up took an epoch, too.
    const { epoch } = await mover.read(0);
    expect(epoch).toBeGreaterThan(from.epoch);
    const copy = { group: from.group, takesEntries: true, move: expect.any(String) as string };
    expect(await mover.home(0)).toEqual({ group: to, epoch, copy });
    expect(await logOf(0)).toEqual(before);
    expect((await trips.digest({ shard: 0 })).digest).toBe(digest.digest);
    await expect.poll(() => entriesOf('Rome')).toHaveLength(30);
    const next = cellOf(0, { city: 'Rome' });
    expect(await trips.put(next)).toMatchObject({ outcome: 'stored', added_id: digest.at + 1 });
    await expectBodies([next]);
    await mover.complete(0);
    expect(await mover.home(0)).toEqual({ group: to, epoch });
    expect(await tablesOn(store, from.group, copyDatabase(name, 0))).toEqual([]);
    expect(await tablesOn(store, from.group, shardDatabase(name, 0))).toEqual([]);
    expect(await tablesOn(store, to, shardDatabase(name, 0))).toHaveLength(2);
  });

  it('goes back with everything that was written since', async () => {
    await put(1);
    const from = await mover.home(1);
    mover.start();
    await mover.move(1, (await mover.others(1))[0]);
    const since: NewCell[] = [];
    for (let number = 0; number < 20; number += 1) since.push(await put(1, { city: 'Oslo' }));
    const { at, digest } = await trips.digest({ shard: 1 });
    await mover.operations.reverseMove({ shard: 1 });
    await mover.switched(1, 2);
    expect((await trips.digest({ shard: 1, at })).digest).toBe(digest);
    const { epoch } = await mover.read(1);
    expect(epoch).toBeGreaterThanOrEqual(from.epoch + 2);
    expect(await mover.home(1)).toMatchObject({ group: from.group, epoch });
    await expectBodies(since);
    await expect.poll(() => entriesOf('Oslo')).toHaveLength(20);
    await mover.complete(1);
  });

  it('goes back without what was written since, where its copy is given nothing and compared with nothing: the control', async () => {
    await using opened = await openTrips(1);
    await using mover = await openMover(opened.store, 'trips');
    const stop = mover.start();
    await mover.move(0, (await mover.others(0))[0]);
    await stop();
    mover.start({ context: contextWithout('copying', opened.store) });
    opened.store.topology.refresh();
    const since = Array.from({ length: 20 }, () => opened.cellIn(0));
    expect(new Set((await opened.trips.batchPut(since)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
    await mover.operations.reverseMove({ shard: 0 });
    await mover.switched(0, 2);
    opened.store.topology.refresh();
    const there = await Promise.all(since.map((cell) => opened.trips.get(cell)));
    expect(there.filter(({ cell }) => cell !== null)).toEqual([]);
  });

  it('is found by an instance with an older topology, which reads the shard and writes to it', async () => {
    const stale = openDeployment({
      topology: dynamoTopology(store.topologyTable),
      connect: ({ name: group }) => store.client(group),
      bufferCopies: 1,
    });
    const old = await stale.datastore(name);
    await old.put(cellOf(2));
    mover.start();
    await mover.move(2, (await mover.others(2))[0]);
    const newer = await put(2);
    // Those that come together first: what is read once is known to all.
    expect(await lookedUp(old, [newer, cellOf(0)])).toMatchObject([{ cell: { body: newer.body } }, { cell: null }]);
    expect((await old.get(newer)).cell?.body).toEqual(newer.body);
    const late = cellOf(2, { city: 'Late' });
    expect(await old.put(late)).toMatchObject({ outcome: 'stored' });
    await expectBodies([late]);
    expect((await old.log([{ shard: 2, after: 0 }]))[0]).toMatchObject({ shard: 2, stale: false });
    await mover.complete(2);
  });

  it.each([
    ['nothing of its former group, to which it writes nothing', undefined, 'buffered', 'unavailable'],
    [
      'the cells of the former group, where a move leaves the shard open there: the control',
      'leaving',
      'stored',
      'version 1',
    ],
  ] as const)('shows an instance that hears of no move %s', async (_what, without, outcome, wanted) => {
    await using opened = await openTrips(1);
    const { store, trips, name, rowIn, cellIn } = opened;
    await using mover = await openMover(store, 'trips');
    const topology = dynamoTopology(store.topologyTable);
    const first = topology.datastore(name);
    let isHeld = true;
    const held = openDeployment({
      topology: { ...topology, datastore: (asked) => (isHeld && asked === name ? first : topology.datastore(asked)) },
      connect: ({ name: group }) => store.client(group),
      bufferCopies: 1,
    });
    const old = await held.datastore(name);
    const row = { row_key: rowIn(0), column_name: 'VERSION' };
    const write = (ref_key: number) => trips.put({ ...row, ref_key, body: { ref_key } });
    await write(1);
    expect((await old.getLatest(row)).cell?.ref_key).toBe(1);
    mover.start(without && { context: contextWithout(without, store) });
    await mover.move(0, (await mover.others(0))[0]);
    store.topology.refresh();
    expect(await write(2)).toMatchObject({ outcome: 'stored' });
    const written = cellIn(0);
    expect((await old.put(written)).outcome).toBe(outcome);
    // A response from a reader says that it may be stale.
    for (const read of without ? (['writer'] as const) : (['writer', 'reader'] as const)) {
      const seen = await old.getLatest(row, { read }).then(
        ({ cell, stale }) => (stale ? 'stale' : `version ${cell?.ref_key}`),
        (error: unknown) => (error instanceof SchemalessError ? error.code : String(error)),
      );
      expect(seen).toBe(wanted);
    }
    if (without) return;
    isHeld = false;
    topology.refresh();
    expect((await old.getLatest(row)).cell?.ref_key).toBe(2);
    expect(await old.put(cellIn(0))).toMatchObject({ outcome: 'stored' });
    for (const { name: holder } of store.groups) await drainAtOnce(store.context, holder);
    expect((await trips.get(written)).cell?.body).toEqual(written.body);
  });

  it('is not switched while its copy differs, and the copy is rebuilt', async () => {
    await put(0);
    const [to] = await mover.others(0);
    await mover.follow(0, to);
    await change(store.client(to), `UPDATE ${copyDatabase(name, 0)}.entity SET body = 'other' WHERE added_id = 1`);
    mover.start();
    await mover.operations.verifyMove({ shard: 0 });
    expect((await mover.until(0, ({ restarts }) => restarts > 0)).switches).toBe(0);
    await mover.operations.switchMove({ shard: 0 });
    await mover.switched(0);
    expect((await logOf(0))[0]?.body).not.toBe('other');
    await mover.complete(0);
  });

  it.each(['waiting', 'following'] as const)('leaves nothing at the target when it is cancelled: %s', async (step) => {
    await put(1);
    const [before, [to]] = [await mover.home(1), await mover.others(1)];
    if (step === 'following') mover.start();
    await mover.operations.createMove({ shard: 1, to });
    await mover.until(1, (status) => status.step === step);
    await mover.operations.cancelMove({ shard: 1 });
    mover.start();
    await mover.until(1, (status) => status.step === 'cancelled');
    await expect.poll(() => mover.home(1)).toEqual(before);
    expect(await tablesOn(store, to, copyDatabase(name, 1))).toEqual([]);
    expect(await trips.put(cellOf(1))).toMatchObject({ outcome: 'stored' });
  });

  it('keeps its copy where its group lost the log, also once new cells are written there', async () => {
    for (let number = 0; number < 5; number += 1) await put(2);
    const [{ group }, [to]] = [await mover.home(2), await mover.others(2)];
    const { copied } = await mover.follow(2, to);
    await change(store.client(group), `DELETE FROM \`${shardDatabase(name, 2)}\`.entity`);
    await change(store.client(group), `UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = '${name}'`);
    const since = cellOf(2);
    expect(await trips.put(since)).toMatchObject({ outcome: 'stored', added_id: 1 });
    mover.start();
    await mover.until(2, ({ last_error }) => last_error?.includes('nothing of what its copy') === true);
    const [[last] = []] = await select(
      store.client(to),
      `SELECT MAX(added_id) FROM \`${copyDatabase(name, 2)}\`.entity`,
    );
    expect(toNumber(last)).toBe(copied);
    await mover.operations.cancelMove({ shard: 2 });
    await mover.until(2, ({ step }) => step === 'cancelled');
    await expectBodies([since]);
  });

  // Each statement of a switch: dying-mover.nightly.test.ts.
  it.each([2, 6])('is moved by another mover when one dies at statement %i of the switch', async (statement) => {
    expect(await moveDying(opened, mover, statement)).toBe(true);
  });
});

describe('operations on a move', () => {
  it('are refused where its step does not allow them, and where there is none', async () => {
    const { operations } = mover;
    const [{ group }, [to, third]] = [await mover.home(0), await mover.others(0)];
    const refused = { code: 'move_refused' };
    await expect(operations.getMove({ shard: 0 })).rejects.toMatchObject({ code: 'unknown_move' });
    await expect(operations.createMove({ shard: 0, to: group })).rejects.toMatchObject(refused);
    await expect(operations.createMove({ shard: 0, to: 'nowhere' })).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'to',
    });
    await expect(operations.createMove({ shard: 99, to: group })).rejects.toMatchObject({ code: 'unknown_shard' });
    const begun = await operations.createMove({ shard: 0, to });
    expect(begun).toMatchObject({ shard: 0, from: group, to, step: 'waiting', switches: 0 });
    expect(await operations.createMove({ shard: 0, to })).toEqual(begun);
    await expect(operations.createMove({ shard: 0, to: third })).rejects.toMatchObject(refused);
    await expect(operations.reverseMove({ shard: 0 })).rejects.toMatchObject(refused);
    await expect(operations.completeMove({ shard: 0 })).rejects.toMatchObject(refused);
    expect((await operations.listMoves()).moves).toHaveLength(1);
    await operations.cancelMove({ shard: 0 });
    mover.start();
    await mover.until(0, ({ step }) => step === 'cancelled');
    await expect(operations.switchMove({ shard: 0 })).rejects.toMatchObject(refused);
    expect(await operations.listMoves()).toEqual({ moves: [] });
  });
});

describe('the tables of a shard that is moved', () => {
  const SHARD = 0;

  it('are held by an open transaction: a switch closes no shard, and is done once it has ended', async () => {
    await trips.put(cellOf(SHARD));
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
    await expect.poll(async () => (await trips.put(cellOf(SHARD))).outcome).toBe('stored');
    expect(await mover.home(SHARD)).toMatchObject({ group });
    await session.query('COMMIT');
    await session.end();
    await mover.switched(SHARD);
    await mover.complete(SHARD);
  });

  it('are not compared after a switch, unless a cut before it is not verified yet', async () => {
    const verified = async () => (await verifiedEpochs(mover.stateTable, name, [SHARD]))(SHARD);
    await noteVerified(mover.stateTable, name, SHARD, (await mover.home(SHARD)).epoch);
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

  it('of an index that is dropped go with those of the copy, and a switch brings none', async () => {
    await trips.put(cellOf(SHARD));
    const [to] = await mover.others(SHARD);
    const { group } = await mover.home(SHARD);
    await mover.follow(SHARD, to);
    const [version] = (await store.topology.indexes(name))[0]?.versions ?? [];
    const table = indexTableName('by_city', version?.hash ?? '');
    await mover.until(SHARD, () => true);
    expect(await tablesOn(store, to, copyDatabase(name, SHARD))).toEqual(['entity', table].sort());
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
    expect(await tablesOn(store, to, copyDatabase(name, SHARD))).toEqual(['entity']);
    expect(await tablesOn(store, group, shardDatabase(name, SHARD))).toEqual(['entity']);

    // As one that came back with a group that failed over.
    await change(store.client(to), `CREATE TABLE ${copyDatabase(name, SHARD)}.${table} (f0 INT)`);
    mover.start();
    await mover.operations.switchMove({ shard: SHARD });
    await mover.switched(SHARD);
    expect(await tablesOn(store, to, shardDatabase(name, SHARD))).toEqual(['entity']);
    await mover.complete(SHARD);
  });
});
