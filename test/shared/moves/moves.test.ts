import { describe, expect, it } from 'vitest';
import { copyDatabase, shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { moveDying } from './dying-mover.ts';
import { openMover } from './support.ts';

const { store, trips, name, rowIn, logOf } = await sharedTrips(3, {
  indexes: [indexOn('by_city', { city: 'string' })],
});

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
  (await trips.query({ index: 'by_city', where: [eq('city', city)], limit: 100 })).entries;

async function tablesOf(group: string, database: string): Promise<string[]> {
  const sql = 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?';
  return (await select(store.client(group), sql, database)).map(([table]) => toText(table)).sort();
}

describe('a shard that is moved', () => {
  it('has the same log, the same entries and the same digest elsewhere, and takes writes there', async () => {
    await using mover = await openMover(store, 'trips');
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
    expect(await tablesOf(from.group, copyDatabase(name, 0))).toEqual([]);
    expect(await tablesOf(from.group, shardDatabase(name, 0))).toEqual([]);
    expect(await tablesOf(to, shardDatabase(name, 0))).toHaveLength(2);
  });

  it('goes back with everything that was written since', async () => {
    await using mover = await openMover(store, 'trips');
    await put(1);
    const from = await mover.home(1);
    mover.start();
    await mover.move(1, (await mover.others(1))[0]);
    const since: NewCell[] = [];
    for (let number = 0; number < 20; number += 1) since.push(await put(1, { city: 'Oslo' }));
    await mover.operations.reverseMove({ shard: 1 });
    await mover.switched(1, 2);
    const { epoch } = await mover.read(1);
    expect(epoch).toBeGreaterThanOrEqual(from.epoch + 2);
    expect(await mover.home(1)).toMatchObject({ group: from.group, epoch });
    await expectBodies(since);
    await expect.poll(() => entriesOf('Oslo')).toHaveLength(20);
    await mover.complete(1);
  });

  it('is found by an instance with an older topology, which reads the shard and writes to it', async () => {
    await using mover = await openMover(store, 'trips');
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

  it('is not switched while its copy differs, and the copy is rebuilt', async () => {
    await using mover = await openMover(store, 'trips');
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
    await using mover = await openMover(store, 'trips');
    await put(1);
    const [before, [to]] = [await mover.home(1), await mover.others(1)];
    if (step === 'following') mover.start();
    await mover.operations.createMove({ shard: 1, to });
    await mover.until(1, (status) => status.step === step);
    await mover.operations.cancelMove({ shard: 1 });
    mover.start();
    await mover.until(1, (status) => status.step === 'cancelled');
    await expect.poll(() => mover.home(1)).toEqual(before);
    expect(await tablesOf(to, copyDatabase(name, 1))).toEqual([]);
    expect(await trips.put(cellOf(1))).toMatchObject({ outcome: 'stored' });
  });

  it('keeps its copy where its group lost the log, also once new cells are written there', async () => {
    await using mover = await openMover(store, 'trips');
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
    await using mover = await openMover(store, 'trips');
    const written: NewCell[] = [];
    const putOne = async (): Promise<NewCell> => {
      const cell = await put(2, { city: 'Dies' });
      written.push(cell);
      return cell;
    };
    expect(await moveDying(store, mover, { shard: 2, statement, put: putOne })).toBe(true);
    for (const group of store.groups) await drainAtOnce(store.context, group.name);
    await expectBodies(written);
    expect((await trips.heads())[2]).toMatchObject({ group: (await mover.home(2)).group });
  });
});

describe('operations on a move', () => {
  it('are refused where its step does not allow them, and where there is none', async () => {
    await using mover = await openMover(store, 'trips');
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
