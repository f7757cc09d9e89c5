import { randomBytes, randomUUID } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { rowKeyBytes, copyDatabase, shardOf, erasureAddress } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { Erasure } from '../../../shared/api/erasures.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { updateState } from '../../../shared/dynamo/state-table.ts';
import { SqlError, type SqlChange } from '../../../shared/sql/client.ts';
import { appendCell } from '../../../shared/sql/statements/append-cells.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { copyOf } from '../../support/copy-of.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { faults } from '../../support/faulty-client.ts';
import { indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { until } from '../../support/until.ts';
import { openMover } from '../moves/support.ts';
import { bodiesEverywhere, countBodies, openEraser, type ErasureRequest } from './support.ts';

const REASON = 'request 4711';
const broken = faults();
afterEach(() => broken.behaviours.clear());
const BY_CITY = indexOn('by_city', { city: 'string', fare: 'integer' });
const OF_TWO_COLUMNS: IndexDefinition = {
  name: 'of_two',
  fields: [
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'stars', type: 'integer', column_key: 'RATING' },
  ],
  keys: [],
};

const opened = await sharedTrips(1, { indexes: [BY_CITY], wrap: broken.wrap });
const { store, trips, name, primary, others, clientOf, entity } = opened;
const eraser = await openEraser(store, 'trips');

const newRow = (): string => randomUUID();
const MARK = 'a planted mark that compresses badly: 9f2k1l0z8x7c6v5b';
const cell = (
  row_key: string,
  ref_key: number,
  body: NewCell['body'] = { city: `city ${ref_key}`, secret: MARK },
): NewCell => ({ row_key, column_name: 'BASE', ref_key, body });

async function put(...cells: readonly NewCell[]): Promise<void> {
  for (const result of await trips.batchPut(cells)) expect(result.outcome).toBe('stored');
}
async function outcomes(...cells: readonly NewCell[]): Promise<string[]> {
  return (await trips.batchPut(cells)).map(({ outcome }) => outcome);
}

const eraseOnce = (request: Omit<ErasureRequest, 'reason'>): Promise<Erasure> =>
  eraser.operations.eraseCells({ ...request, reason: REASON });

const erase = (request: Omit<ErasureRequest, 'reason'>): Promise<Erasure> =>
  eraser.erased({ ...request, reason: REASON });

const bodiesOf = (row_key: string): Promise<number> => bodiesEverywhere(store, opened, row_key);
const log = () => opened.logOf(0);

async function faresIn(city: string) {
  const { entries } = await trips.query({ index: 'by_city', where: { city } });
  return entries.map(({ fields }) => fields?.['fare']);
}

describe('an erasure', () => {
  it.each([
    ['a row', {}, ['BASE/1', 'BASE/2', 'BASE/3', 'NOTE/1']],
    ['a column', { column_name: 'BASE' }, ['BASE/1', 'BASE/2', 'BASE/3']],
    ['versions up to one', { column_name: 'BASE', up_to: 2 }, ['BASE/1', 'BASE/2']],
    ['a cell', { column_name: 'BASE', ref_key: 2 }, ['BASE/2']],
  ])('of %s takes its bodies, keeps their places, and nothing else', async (_what, target, gone) => {
    const row_key = newRow();
    const cells = [cell(row_key, 1), cell(row_key, 2), cell(row_key, 3), { ...cell(row_key, 1), column_name: 'NOTE' }];
    await put(...cells);
    const before = await log();
    const { digest } = await trips.digest({ shard: 0, at: before.length });

    const erasure = await erase({ row_key, ...target });
    expect(erasure).toMatchObject({ state: 'erased', cells: gone.length, waits_for: null, requested_by: 'tester' });
    expect(Object.values(erasure.cleaned).every((time) => time !== null)).toBe(true);
    const days = (Date.parse(erasure.backups_until ?? '') - Date.parse(erasure.requested_at)) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(35);

    // The copies of cells that were not erased wait for their drain still.
    expect(await bodiesOf(row_key)).toBe(2 * (cells.length - gone.length));
    for (const one of cells) {
      const isGone = gone.includes(`${one.column_name}/${one.ref_key}`);
      const { cell: found, erasure: by } = await trips.get(one);
      expect(found?.body).toEqual(isGone ? null : one.body);
      expect(found?.erased).toBe(isGone ? true : undefined);
      if (isGone) expect(by).toMatchObject({ id: erasure.id, reason: REASON, scope: erasure.scope });
      expect(await lookedUp(trips, [one])).toEqual([await trips.get(one)]);
      // Neither the same body nor another one.
      for (const body of [one.body, 'another'])
        expect((await trips.put({ ...one, body })).outcome).toBe(
          isGone ? 'erased' : body === 'another' ? 'conflict' : 'stored_before',
        );
    }

    const after = await log();
    expect(after.map(({ added_id }) => added_id)).toEqual(after.map((_, position) => position + 1));
    expect(after.length).toBe(before.length + 1);
    expect(after.at(-1)).toMatchObject({
      row_key,
      body: null,
      added_id: erasure.added_id,
      erasure: { id: erasure.id, scope: erasure.scope, reason: REASON },
    });
    expect((await trips.digest({ shard: 0, at: before.length })).digest).toBe(digest);
    expect(JSON.stringify(after.filter((one) => one.erased))).not.toContain('planted');
  });

  it('keeps what was never written from being written', async () => {
    const row_key = newRow();
    await erase({ row_key, column_name: 'BASE', ref_key: 7 });
    expect((await trips.put(cell(row_key, 7))).outcome).toBe('erased');
    expect((await trips.put(cell(row_key, 6))).outcome).toBe('stored');
    await erase({ row_key, column_name: 'BASE', up_to: 9 });
    const three = [cell(row_key, 8), cell(row_key, 9), cell(row_key, 10)];
    expect(await outcomes(...three)).toEqual(['erased', 'erased', 'stored']);
    await erase({ row_key });
    expect(await outcomes(cell(row_key, 11), { ...cell(row_key, 1), column_name: 'NEW' })).toEqual([
      'erased',
      'erased',
    ]);
  });

  it('of a version that never was leaves the latest one the latest', async () => {
    const row_key = newRow();
    await put(cell(row_key, 3, { city: `latest ${row_key}`, fare: 3 }));
    expect(await erase({ row_key, column_name: 'BASE', ref_key: 100 })).toMatchObject({ state: 'erased', cells: 0 });
    expect((await trips.getLatest({ row_key, column_name: 'BASE' })).cell?.ref_key).toBe(3);
    await expect.poll(() => faresIn(`latest ${row_key}`)).toEqual([3]);
    expect(await outcomes(cell(row_key, 100), cell(row_key, 101))).toEqual(['erased', 'stored']);
  });

  it('is not shown among the columns of its row', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1), { ...cell(row_key, 1), column_name: 'NOTE' });
    await erase({ row_key, column_name: 'NOTE' });
    const { cells } = await trips.row(row_key);
    expect(cells.map(({ column_name, erased }) => [column_name, erased])).toEqual([
      ['BASE', undefined],
      ['NOTE', true],
    ]);
  });

  it('asked for again answers the same record, and takes what has come back', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    const first = await erase({ row_key });
    // As in a group that was restored to an earlier time.
    const { encoded } = copyOf(cell(row_key, 1));
    const restore = `UPDATE ${entity(0)} SET body = ? WHERE row_key = ? AND column_name = 'BASE'`;
    await change(clientOf(0), restore, encoded, rowKeyBytes(row_key));
    expect(await bodiesOf(row_key)).toBe(1);
    const again = await eraser.erased({ row_key, reason: 'again' });
    expect(again).toMatchObject({ id: first.id, reason: REASON, added_id: first.added_id, state: 'erased', cells: 2 });
    expect(await bodiesOf(row_key)).toBe(0);
  });

  it('takes a row of many large cells, page by page', async () => {
    const row_key = newRow();
    for (let from = 0; from < 150; from += 50)
      await put(
        ...Array.from({ length: 50 }, (_, at) =>
          cell(row_key, from + at, { long: 'x'.repeat(20_000), noise: randomBytes(6000).toString('base64') }),
        ),
      );
    expect(await erase({ row_key })).toMatchObject({ state: 'erased', cells: 150 });
    expect(await bodiesOf(row_key)).toBe(0);
  });

  it('takes entries out of indexes, also those of former values, and leaves the one that the row keeps', async () => {
    const row_key = newRow();
    const [one, two, three] = [`one ${row_key}`, `two ${row_key}`, `three ${row_key}`];
    await put(cell(row_key, 1, { city: one, fare: 1 }));
    await put(cell(row_key, 2, { city: two, fare: 2 }));
    await put(cell(row_key, 3, { city: three, fare: 3 }));
    await expect.poll(() => faresIn(three)).toEqual([3]);
    await erase({ row_key, column_name: 'BASE', up_to: 2 });
    expect([await faresIn(one), await faresIn(two), await faresIn(three)]).toEqual([[], [], [3]]);
    await erase({ row_key });
    expect(await faresIn(three)).toEqual([]);
    const index = (await store.topology.indexes(name))[0]?.versions.at(-1)?.hash ?? '';
    const table = `${entity(0).split('.')[0]}.\`${indexTableName('by_city', index)}\``;
    const left = `SELECT COUNT(*) FROM ${table} WHERE row_key = ? AND (tombstone_at IS NULL OR f1 IS NOT NULL)`;
    expect(Number((await select(clientOf(0), left, rowKeyBytes(row_key)))[0]?.[0])).toBe(0);
  });

  it('is recorded while its primary is down, takes what is buffered, and is done when it is back', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    broken.behaviours.set(primary, 'down');
    expect((await trips.put(cell(row_key, 2))).outcome).toBe('buffered');
    const erasing = await eraseOnce({ row_key });
    expect(erasing).toMatchObject({ state: 'erasing', added_id: null, cells: 0 });
    expect(erasing.waits_for).toContain('log: ');
    broken.behaviours.clear();
    const stop = eraser.start();
    await expect.poll(async () => (await eraser.operations.getErasure({ erasure: erasing.id })).state).toBe('erased');
    await stop();
    expect(await bodiesOf(row_key)).toBe(0);
    for (const { name: group } of store.groups) await drainAtOnce(store.context, group);
    expect((await trips.get(cell(row_key, 1))).cell?.erased).toBe(true);
    expect((await trips.put(cell(row_key, 2))).outcome).toBe('erased');
  });

  it('is not done as long as a group cannot be asked for its copies', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    const [unavailable = ''] = others;
    broken.behaviours.set(unavailable, 'down');
    const erasing = await eraseOnce({ row_key });
    expect(erasing).toMatchObject({ state: 'erasing', waits_for: `copies: ${unavailable}: ${unavailable} is down` });
    expect((await eraser.operations.listErasures({ open: true })).erasures.map(({ id }) => id)).toContain(erasing.id);
    broken.behaviours.clear();
    expect(await erase({ row_key })).toMatchObject({ state: 'erased' });
    expect((await eraser.operations.listErasures({ open: true })).erasures.map(({ id }) => id)).not.toContain(
      erasing.id,
    );
    expect((await eraser.operations.listErasures({ limit: 1000 })).erasures.map(({ id }) => id)).toContain(erasing.id);
  });

  it('is not undone by a copy that a drain brings late: the copy goes', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    await erase({ row_key });
    const [holder = ''] = others;
    // Buffered by a writer that was slow: one of what was there, one of what never was.
    for (const ref_key of [1, 2])
      await store.client(holder).change(insertBuffered(name, [copyOf(cell(row_key, ref_key), 0)]));
    await drainAtOnce(store.context, holder);
    expect(await bodiesOf(row_key)).toBe(0);
    expect((await trips.listBufferConflicts()).conflicts.filter((one) => one.row_key === row_key)).toEqual([]);
    expect((await trips.get(cell(row_key, 2))).cell).toBeNull();
  });

  it('asked for within a wider one is done, and adds nothing to the log', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    await erase({ row_key });
    const { length } = await log();
    expect(await erase({ row_key, column_name: 'BASE', up_to: 1 })).toMatchObject({ state: 'erased', added_id: null });
    expect(await log()).toHaveLength(length);
  });

  it('leaves other rows as they are', async () => {
    const [gone, kept] = [newRow(), newRow()];
    await put(cell(gone, 1), cell(kept, 1, { city: `kept ${kept}`, fare: 5 }));
    await erase({ row_key: gone });
    expect((await trips.get(cell(kept, 1))).cell?.body).toEqual({ city: `kept ${kept}`, fare: 5 });
    await expect.poll(() => faresIn(`kept ${kept}`)).toEqual([5]);
  });

  it('without a record is unknown', async () => {
    await expect(eraser.operations.getErasure({ erasure: randomUUID() })).rejects.toMatchObject({
      code: 'unknown_erasure',
    });
  });
});

/** InnoDB keeps what it shows of transactions for as long as it is asked again within 100 ms. */
const TABLE_OF_TRANSACTIONS = { pollMs: 150 };

describe('an append that waits while something is erased', () => {
  it.each([false, true])('appends nothing; checks for erasures: %s', async (checksErasures) => {
    const row_key = newRow();
    const epoch = (await store.topology.datastore(name))?.homes[0]?.epoch ?? 0;
    const address = erasureAddress({ row_key });
    await put(cell(newRow(), 1));
    const held = await connectionTo(primary);
    onTestFinished(() => held.end());
    await held.query('START TRANSACTION');
    await held.query('SELECT epoch FROM schemaless.shard WHERE datastore = ? AND shard = 0 FOR UPDATE', [name]);
    const fence = { datastore: name, shard: 0, epoch, checksErasures };
    const { mayShareCommit: _, ...append } = appendCell(fence, copyOf(cell(row_key, 1), 0));
    // The server lets it wait for a second at most.
    const appended = async (): Promise<SqlChange> => {
      try {
        return await clientOf(0).change(append);
      } catch (error) {
        if (error instanceof SqlError && error.failure === 'contention') return appended();
        throw error;
      }
    };
    const appending = appended();
    await until(
      'the append waits for the shard',
      async () => {
        const waiting =
          "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE ?";
        const [rows] = await held.query<RowDataPacket[]>(waiting, [`%${name}%`]);
        return rows.length > 0;
      },
      TABLE_OF_TRANSACTIONS,
    );
    await held.query('UPDATE schemaless.shard SET has_erasures = 1 WHERE datastore = ? AND shard = 0', [name]);
    await held.query(`INSERT INTO ${entity(0)} SELECT MAX(added_id) + 1, ?, ?, ?, ?, SYSDATE(6) FROM ${entity(0)}`, [
      rowKeyBytes(row_key),
      Buffer.from(address.column_name),
      address.ref_key,
      copyOf(cell(row_key, 1)).encoded,
    ]);
    await held.query('COMMIT');
    expect((await appending).affectedRows).toBe(0);
  });
});

describe('an erasure of a datastore over all groups', () => {
  it('leaves bodies until what indexes have of them can be taken away, since nothing else says where it is', async () => {
    const spread = await openTrips(9, { indexes: [BY_CITY, OF_TWO_COLUMNS], wrap: broken.wrap });
    onTestFinished(() => spread[Symbol.asyncDispose]());
    await using other = await openEraser(spread.store, 'trips');
    const row_key = newRow();
    const own = spread.groupOf(shardOf(row_key, 9));
    const groupOfCity = (value: string): string => spread.groupOf(shardOfValue(value, 'string', 9));
    // A value whose entry lies on another group than the row.
    let city = `city ${row_key}`;
    while (groupOfCity(city) === own) city += '.';
    const unavailable = groupOfCity(city);
    const kept = newRow();
    for (const one of [cell(row_key, 1, { city, fare: 1 }), cell(kept, 1, { city })])
      expect((await spread.trips.put(one)).outcome).toBe('stored');
    const found = async (index: string) => (await spread.trips.query({ index, where: { city } })).entries.length;
    await expect.poll(() => found('by_city')).toBe(2);
    broken.behaviours.set(unavailable, 'down');
    const erasing = await other.operations.eraseCells({ row_key, column_name: 'BASE', reason: REASON });
    expect(erasing).toMatchObject({ state: 'erasing', cells: 0 });
    expect(erasing.waits_for).toContain(`bodies: those on ${unavailable} could not be written`);
    broken.behaviours.clear();
    // A write to another column of the index rewrites the remaining values with a later version.
    for (const row of [kept, row_key])
      expect((await spread.trips.put({ ...cell(row, 1, { stars: 5 }), column_name: 'RATING' })).outcome).toBe('stored');
    await expect.poll(() => found('of_two')).toBe(2);
    other.start();
    await expect.poll(async () => (await other.operations.getErasure({ erasure: erasing.id })).state).toBe('erased');
    expect([await found('by_city'), await found('of_two')]).toEqual([1, 1]);
    expect((await spread.trips.get(cell(row_key, 1))).cell?.erased).toBe(true);
  });

  it('is done only once the copy of a shard that is being moved has none of it', async () => {
    const moving = await openTrips(1);
    onTestFinished(() => moving[Symbol.asyncDispose]());
    await using mover = await openMover(moving.store, 'trips');
    await using other = await openEraser(moving.store, 'trips');
    const row_key = newRow();
    expect((await moving.trips.put(cell(row_key, 1))).outcome).toBe('stored');
    const [to] = await mover.others(0);
    expect(await mover.follow(0, to)).toMatchObject({ copied: 1 });
    const erasing = await other.operations.eraseCells({ row_key, reason: REASON });
    expect(erasing.waits_for).toContain('nodes: ');
    expect(await countBodies(moving.store, to, copyDatabase(moving.name, 0))).toBe(0);
    mover.start();
    other.start();
    await expect.poll(async () => (await other.operations.getErasure({ erasure: erasing.id })).state).toBe('erased');
    await mover.operations.switchMove({ shard: 0 });
    await mover.switched(0);
    expect((await moving.trips.get(cell(row_key, 1))).cell?.erased).toBe(true);
    expect((await moving.trips.put(cell(row_key, 2))).outcome).toBe('erased');
    expect((await moving.trips.put(cell(newRow(), 2))).outcome).toBe('stored');
  });
});

it('writes to the addresses of erasures are refused', async () => {
  for (const column_name of ['\0', '\0BASE', '\x01BASE'])
    await expect(trips.put({ ...cell(newRow(), 1), column_name })).rejects.toMatchObject({ field: 'column_name' });
});

it('an erasure that was listed and never begun is forgotten', async () => {
  await using other = await openEraser(store, 'trips');
  const values = { ':id': { SS: [randomUUID()] } };
  await updateState(other.stateTable, { key: `erasures#${name}`, update: 'ADD #open :id', values });
  other.start();
  await expect.poll(async () => (await other.operations.listErasures({ open: true })).erasures).toEqual([]);
});
