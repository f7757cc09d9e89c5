import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rowKeyBytes, copyDatabase, shardDatabase, shardOf, erasureAddress } from '../../../shared/address.ts';
import { LIMITS, type NewCell } from '../../../shared/cell.ts';
import type { Erasure, ErasureRequest } from '../../../shared/contract/erasure-operations.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { appendCell } from '../../../shared/sql/statements/append-cells.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import type { StoredDatastore } from '../../../shared/store/deployment.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { copyOf } from '../../support/copy-of.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { faults } from '../../support/faulty-client.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { select } from '../../support/plain-sql.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { openMover } from '../moves/support.ts';
import { openEraser, type Eraser } from './support.ts';

const SHARD = 0;
const REASON = 'request 4711';
const broken = faults();
let store: RealStore;
let trips: StoredDatastore;
let name: string;
let eraser: Eraser;
let primary: string;
let others: readonly string[];

/** Of two columns. */
const OF_TWO: IndexDefinition = {
  name: 'of_two',
  fields: [
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'stars', type: 'integer', column_key: 'RATING' },
  ],
  keys: [],
};

beforeAll(async () => {
  store = await openRealStore({
    datastores: { erased: 1, spread: 9, moving: 1 },
    indexes: {
      erased: [indexOn('by_city', { city: 'string', fare: 'integer' })],
      spread: [indexOn('by_city', { city: 'string', fare: 'integer' }), OF_TWO],
    },
    wrap: broken.wrap,
  });
  name = store.nameOf('erased');
  trips = await store.deployment.datastore(name);
  eraser = await openEraser(store, 'erased');
  primary = (await store.topology.datastore(name))?.homes[SHARD]?.group ?? '';
  others = store.groups.map((group) => group.name).filter((group) => group !== primary);
});
afterEach(() => broken.behaviours.clear());
afterAll(() => store.close());

const newRow = (): string => randomUUID();

function cell(
  row_key: string,
  ref_key: number,
  body: NewCell['body'] = { city: `city ${ref_key}`, secret: MARK },
): NewCell {
  return { row_key, column_name: 'BASE', ref_key, body };
}

/** Looked for in every place that may hold bodies. */
const MARK = 'a planted mark that is in no other test, and compresses badly: 9f2k1l0z8x7c6v5b';

async function put(...cells: readonly NewCell[]): Promise<void> {
  for (const result of await trips.batchPut(cells)) expect(result.outcome).toBe('stored');
}

const erase = (request: Omit<ErasureRequest, 'reason'>): Promise<Erasure> =>
  eraser.operations.erase({ ...request, reason: REASON });

/** What the tables hold still of the bodies of a row. */
async function bodiesOf(row_key: string): Promise<number> {
  const key = rowKeyBytes(row_key);
  let found = 0;
  for (const { name: group } of store.groups) {
    const client = store.client(group);
    const inBuffers = await Promise.all(
      ['buffer', 'drained'].map((table) =>
        select(
          client,
          `SELECT COUNT(*) FROM schemaless.${table} WHERE datastore = ? AND row_key = ? AND column_name >= X'02'`,
          name,
          key,
        ),
      ),
    );
    found += inBuffers.reduce((sum, [row]) => sum + Number(row?.[0]), 0);
  }
  const [[inLog] = []] = await select(
    store.client(primary),
    `SELECT COUNT(*) FROM \`${shardDatabase(name, SHARD)}\`.entity WHERE row_key = ? AND column_name >= X'02' AND LEFT(body, 1) <> X'00'`,
    key,
  );
  return found + Number(inLog);
}

const log = async () => {
  const [shard] = await trips.log([{ shard: SHARD, after: 0 }], { limit: LIMITS.logCells });
  if (!shard || shard.error) throw new Error('no log');
  return shard.cells;
};

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
    const { digest } = await trips.digest({ shard: SHARD, at: before.length });

    const erasure = await erase({ row_key, ...target });
    expect(erasure).toMatchObject({ state: 'erased', cells: gone.length, waits_for: null, requested_by: 'tester' });
    expect(Object.values(erasure.cleaned).every((time) => time !== null)).toBe(true);
    expect(Date.parse(erasure.backups_until ?? '')).toBeGreaterThan(Date.now() + 34 * 86_400_000);

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
    expect((await trips.digest({ shard: SHARD, at: before.length })).digest).toBe(digest);
    expect(JSON.stringify(after.filter((one) => one.erased))).not.toContain('planted');
  });

  it('keeps what was never written from being written', async () => {
    const row_key = newRow();
    await erase({ row_key, column_name: 'BASE', ref_key: 7 });
    expect((await trips.put(cell(row_key, 7))).outcome).toBe('erased');
    expect((await trips.put(cell(row_key, 6))).outcome).toBe('stored');
    await erase({ row_key, column_name: 'BASE', up_to: 9 });
    const results = await trips.batchPut([cell(row_key, 8), cell(row_key, 9), cell(row_key, 10)]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['erased', 'erased', 'stored']);
    await erase({ row_key });
    expect(
      (await trips.batchPut([cell(row_key, 11), { ...cell(row_key, 1), column_name: 'NEW' }])).map(
        ({ outcome }) => outcome,
      ),
    ).toEqual(['erased', 'erased']);
  });

  it('of a version that never was leaves the latest one the latest', async () => {
    const row_key = newRow();
    await put(cell(row_key, 3, { city: `latest ${row_key}`, fare: 3 }));
    expect(await erase({ row_key, column_name: 'BASE', ref_key: 100 })).toMatchObject({ state: 'erased', cells: 0 });
    expect((await trips.getLatest({ row_key, column_name: 'BASE' })).cell?.ref_key).toBe(3);
    expect((await trips.query({ index: 'by_city', where: [eq('city', `latest ${row_key}`)] })).entries).toHaveLength(1);
    const results = await trips.batchPut([cell(row_key, 100), cell(row_key, 101)]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['erased', 'stored']);
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
    // As a group that was set back to an earlier time has it.
    const { encoded } = copyOf(cell(row_key, 1));
    await store.client(primary).change({
      sql: `UPDATE \`${shardDatabase(name, SHARD)}\`.entity SET body = ? WHERE row_key = ? AND column_name = 'BASE'`,
      parameters: [encoded, rowKeyBytes(row_key)],
    });
    expect(await bodiesOf(row_key)).toBe(1);
    const again = await eraser.operations.erase({ row_key, reason: 'once more' });
    expect(again).toMatchObject({ id: first.id, reason: REASON, added_id: first.added_id, state: 'erased', cells: 2 });
    expect(await bodiesOf(row_key)).toBe(0);
  });

  it('takes a row of many large cells, page by page', async () => {
    const row_key = newRow();
    const long = 'x'.repeat(20_000);
    for (let ref_key = 0; ref_key < 150; ref_key += 50)
      await put(
        ...Array.from({ length: 50 }, (_, position) =>
          cell(row_key, ref_key + position, { long: `${long}${Math.random()}`, noise: noise(8000) }),
        ),
      );
    expect(await erase({ row_key })).toMatchObject({ state: 'erased', cells: 150 });
    expect(await bodiesOf(row_key)).toBe(0);
  });

  const noise = (length: number): string => Array.from({ length }, () => Math.random().toString(36)[2] ?? 'a').join('');

  it('takes entries out of indexes, also those of former values, and leaves the one that the row keeps', async () => {
    const row_key = newRow();
    const [one, two, three] = [`one ${row_key}`, `two ${row_key}`, `three ${row_key}`];
    await put(cell(row_key, 1, { city: one, fare: 1 }));
    await put(cell(row_key, 2, { city: two, fare: 2 }));
    await put(cell(row_key, 3, { city: three, fare: 3 }));
    const found = async (city: string) => {
      const { entries } = await trips.query({ index: 'by_city', where: [eq('city', city)] });
      return entries.map(({ fields }) => fields?.['fare']);
    };
    await expect.poll(() => found(three)).toEqual([3]);
    await erase({ row_key, column_name: 'BASE', up_to: 2 });
    expect([await found(one), await found(two), await found(three)]).toEqual([[], [], [3]]);
    await erase({ row_key });
    expect(await found(three)).toEqual([]);
    const [[values] = []] = await select(
      store.client(primary),
      `SELECT COUNT(*) FROM \`${shardDatabase(name, SHARD)}\`.\`${await tableOfIndex()}\` WHERE row_key = ? AND (tombstone_at IS NULL OR f1 IS NOT NULL)`,
      rowKeyBytes(row_key),
    );
    expect(Number(values)).toBe(0);
  });

  async function tableOfIndex(): Promise<string> {
    const [[table] = []] = await select(
      store.client(primary),
      "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name LIKE 'by\\_city\\_%'",
      shardDatabase(name, SHARD),
    );
    return String(table instanceof Uint8Array ? Buffer.from(table).toString() : table);
  }

  it('is recorded while its primary is down, takes what is buffered, and is done when it is back', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    broken.behaviours.set(primary, 'down');
    expect((await trips.put(cell(row_key, 2))).outcome).toBe('buffered');
    const erasing = await erase({ row_key });
    expect(erasing).toMatchObject({ state: 'erasing', added_id: null, cells: 0 });
    expect(erasing.waits_for).toContain('log: ');
    broken.behaviours.clear();
    const stop = eraser.start();
    await expect.poll(async () => (await eraser.operations.erasure(erasing.id)).state).toBe('erased');
    await stop();
    expect(await bodiesOf(row_key)).toBe(0);
    for (const { name: group } of store.groups) await drainAtOnce(store.context, group);
    expect((await trips.get(cell(row_key, 1))).cell?.erased).toBe(true);
    expect((await trips.put(cell(row_key, 2))).outcome).toBe('erased');
  });

  it('is not done as long as a group cannot be asked for its copies', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    const [away = ''] = others;
    broken.behaviours.set(away, 'down');
    const erasing = await erase({ row_key });
    expect(erasing).toMatchObject({ state: 'erasing', waits_for: `copies: ${away}: ${away} is down` });
    expect((await eraser.operations.erasures({ open: true })).erasures.map(({ id }) => id)).toContain(erasing.id);
    broken.behaviours.clear();
    expect(await erase({ row_key })).toMatchObject({ state: 'erased' });
    expect((await eraser.operations.erasures({ open: true })).erasures.map(({ id }) => id)).not.toContain(erasing.id);
    expect((await eraser.operations.erasures({ limit: 1000 })).erasures.map(({ id }) => id)).toContain(erasing.id);
  });

  it('is not undone by a copy that a drain brings late: the copy goes', async () => {
    const row_key = newRow();
    await put(cell(row_key, 1));
    await erase({ row_key });
    const [holder = ''] = others;
    // Buffered by a writer that was slow: one of what was there, one of what never was.
    for (const ref_key of [1, 2])
      await store.client(holder).change(insertBuffered(name, [copyOf(cell(row_key, ref_key), SHARD)]));
    await drainAtOnce(store.context, holder);
    expect(await bodiesOf(row_key)).toBe(0);
    expect((await trips.bufferConflicts()).conflicts.filter((one) => one.row_key === row_key)).toEqual([]);
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
    const { entries } = await trips.query({ index: 'by_city', where: [eq('city', `kept ${kept}`)] });
    expect(entries).toHaveLength(1);
  });

  it.each([
    [{ row_key: 'no uuid' }, 'row_key'],
    [{ row_key: randomUUID(), ref_key: 1 }, 'column_name'],
    [{ row_key: randomUUID(), column_name: 'BASE', ref_key: 1, up_to: 2 }, 'up_to'],
    [{ row_key: randomUUID(), column_name: 'BASE', ref_key: -1 }, 'ref_key'],
    [{ row_key: randomUUID(), column_name: '\0BASE' }, 'column_name'],
    [{ row_key: randomUUID(), column_name: 'x'.repeat(255) }, 'column_name'],
  ])('of %j is refused, and names %s', async (request, field) => {
    const { length } = await log();
    await expect(erase(request)).rejects.toMatchObject({ field });
    expect(await log()).toHaveLength(length);
  });

  it('that nobody has a record of is unknown', async () => {
    await expect(eraser.operations.erasure(randomUUID())).rejects.toMatchObject({ code: 'unknown_erasure' });
  });
});

describe('an append that waits while something is erased', () => {
  it.each([
    ['that does not look for it', false],
    ['that looks for it', true],
  ])('appends nothing: one %s', async (_what, heeds) => {
    const row_key = newRow();
    const { datastore: entity } = { datastore: shardDatabase(name, SHARD) };
    const epoch = (await store.topology.datastore(name))?.homes[SHARD]?.epoch ?? 0;
    const fence = { datastore: name, shard: SHARD, epoch };
    const address = erasureAddress({ row_key });
    const held = await connectionTo(primary);
    await held.query('START TRANSACTION');
    await held.query('SELECT epoch FROM schemaless.shard WHERE datastore = ? AND shard = ? FOR UPDATE', [name, SHARD]);
    const { mayShareCommit: _, ...append } = appendCell({ ...fence, heeds }, copyOf(cell(row_key, 1), SHARD));
    const appending = store.client(primary).change(append);
    await sleep(200);
    await held.query('UPDATE schemaless.shard SET heeds = 1 WHERE datastore = ? AND shard = ?', [name, SHARD]);
    await held.query(
      `INSERT INTO \`${entity}\`.entity SELECT MAX(added_id) + 1, ?, ?, ?, ?, SYSDATE(6) FROM \`${entity}\`.entity`,
      [rowKeyBytes(row_key), Buffer.from(address.column_name), address.ref_key, copyOf(cell(row_key, 1)).encoded],
    );
    await held.query('COMMIT');
    expect((await appending).affectedRows).toBe(0);
  });
});

describe('an erasure of a datastore over all groups', () => {
  it('leaves bodies until what indexes have of them can be taken away, since nothing else says where it is', async () => {
    const spread = await store.deployment.datastore(store.nameOf('spread'));
    await using other = await openEraser(store, 'spread');
    const homes = (await store.topology.datastore(spread.name))?.homes ?? [];
    const row_key = newRow();
    const own = homes[shardOf(row_key, spread.shards)]?.group;
    // A value whose entry lies on another group than the row.
    let city = '';
    for (let number = 0; city === '' || homes[shardOfValue(city, 'string', spread.shards)]?.group === own; number += 1)
      city = `city ${number} ${row_key}`;
    const away = homes[shardOfValue(city, 'string', spread.shards)]?.group ?? '';
    expect((await spread.put(cell(row_key, 1, { city, fare: 1 }))).outcome).toBe('stored');
    const kept = newRow();
    expect((await spread.put(cell(kept, 1, { city }))).outcome).toBe('stored');
    const found = async () => (await spread.query({ index: 'by_city', where: [eq('city', city)] })).entries.length;
    expect(await found()).toBe(2);
    broken.behaviours.set(away, 'down');
    const erasing = await other.operations.erase({ row_key, column_name: 'BASE', reason: REASON });
    expect(erasing).toMatchObject({ state: 'erasing', cells: 0 });
    expect(erasing.waits_for).toContain(`bodies: those on ${away} could not be written`);
    broken.behaviours.clear();
    // Another column of an index is written meanwhile, which brings what is still there once more, as of later.
    expect((await spread.put({ ...cell(kept, 1, { stars: 5 }), column_name: 'RATING' })).outcome).toBe('stored');
    expect((await spread.put({ ...cell(row_key, 1, { stars: 5 }), column_name: 'RATING' })).outcome).toBe('stored');
    const ofTwo = async () => (await spread.query({ index: 'of_two', where: [eq('city', city)] })).entries.length;
    expect(await ofTwo()).toBe(2);
    other.start();
    await expect.poll(async () => (await other.operations.erasure(erasing.id)).state).toBe('erased');
    expect(await found()).toBe(1);
    expect(await ofTwo()).toBe(1);
    expect((await spread.get(cell(row_key, 1))).cell?.erased).toBe(true);
  });

  it('is done only once the copy of a shard that is being moved has none of it', async () => {
    await using mover = await openMover(store, 'moving');
    await using other = await openEraser(store, 'moving');
    const moving = await store.deployment.datastore(store.nameOf('moving'));
    const row_key = newRow();
    expect((await moving.put(cell(row_key, 1))).outcome).toBe('stored');
    const from = (await store.topology.datastore(moving.name))?.homes[0]?.group ?? '';
    const to = store.groups.map((group) => group.name).find((group) => group !== from) ?? '';
    await mover.operations.createMove(0, to);
    const stop = mover.start();
    await mover.until(0, ({ step, copied }) => step === 'following' && copied === 1);
    await stop();
    const erasing = await other.operations.erase({ row_key, reason: REASON });
    expect(erasing.waits_for).toContain('nodes: ');
    expect(await bodiesIn(to, copyDatabase(moving.name, 0))).toBe(0);
    mover.start();
    other.start();
    await expect.poll(async () => (await other.operations.erasure(erasing.id)).state).toBe('erased');
    await mover.operations.switchMove(0);
    await mover.until(0, ({ switches, step }) => switches === 1 && step === 'following');
    expect((await moving.get(cell(row_key, 1))).cell?.erased).toBe(true);
    expect((await moving.put(cell(row_key, 2))).outcome).toBe('erased');
    expect((await moving.put(cell(newRow(), 2))).outcome).toBe('stored');
  });
});

async function bodiesIn(group: string, database: string): Promise<number> {
  const sql = `SELECT COUNT(*) FROM \`${database}\`.entity WHERE column_name >= X'02' AND LEFT(body, 1) <> X'00'`;
  return Number((await select(store.client(group), sql))[0]?.[0]);
}

it('nobody writes where erasures stand', async () => {
  for (const column_name of ['\0', '\0BASE', '\x01BASE'])
    await expect(trips.put({ ...cell(newRow(), 1), column_name })).rejects.toMatchObject({ field: 'column_name' });
});

it('what was listed, and never begun, is forgotten', async () => {
  await using other = await openEraser(store, 'erased');
  const { client, table } = other.stateTable;
  const { UpdateItemCommand } = await import('@aws-sdk/client-dynamodb');
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { pk: { S: `erasures#${name}` } },
      UpdateExpression: 'ADD #open :id',
      ExpressionAttributeNames: { '#open': 'open' },
      ExpressionAttributeValues: { ':id': { SS: [randomUUID()] } },
    }),
  );
  other.start();
  await expect.poll(async () => (await other.operations.erasures({ open: true })).erasures).toEqual([]);
});
