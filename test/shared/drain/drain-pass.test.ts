import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';
import { bodyHash, insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

const SHARDS = 6;
/** Several passes over what all files left, on a machine that may be busy. */
const PATIENT = { timeout: 15_000 };
/** Rows of other test files wait in the same tables. */
const FAST = 1_000_000;
const broken = faults();
/** A reader that shows nothing yet: hashes asked of a single node come back empty, but for whether it is the writer. */
let readersLag = false;
/**
 * A planned change of roles: the writer takes no writes any more, and the reader that is to be promoted does not
 * answer.
 */
let switchingOver = false;
/** Before a statement that changes something reaches its server. */
let beforeChange: ((sql: string) => Promise<void>) | undefined;
/** What the drain asked of single nodes. */
let askedNodes = 0;

let store: RealStore;
let trips: Datastore & BufferOperations;
let primary: string;
let holder: string;

function lagging(client: SqlClient): SqlClient {
  return {
    ...client,
    change: async (statement) => {
      await beforeChange?.(statement.sql);
      return client.change(statement);
    },
    select: async (statement, target) => {
      const rows = await client.select(statement, target);
      if (typeof target !== 'object') return rows;
      askedNodes += 1;
      if (switchingOver) {
        if (target.node > 0) throw new SqlError('unreachable', 'is being promoted');
        return rows.map((row) => (Number(row[0]) < 0 ? [row[0] ?? null, null] : row));
      }
      const isWriter = rows.some(([item, writable]) => Number(item) < 0 && writable !== null);
      return readersLag && !isWriter ? rows.filter(([item]) => Number(item) < 0) : rows;
    },
  };
}

beforeAll(async () => {
  store = await openRealStore({
    datastores: { trips: SHARDS },
    indexes: { trips: SUITE_INDEXES.slice(0, 1) },
    wrap: (client, group) => broken.wrap(lagging(client), group),
  });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  primary = (await store.topology.datastore(store.nameOf('trips')))?.places[0]?.group ?? '';
  holder = store.groups.map(({ name }) => name).find((name) => name !== primary) ?? '';
});

afterEach(() => {
  broken.behaviours.clear();
  readersLag = false;
  switchingOver = false;
  beforeChange = undefined;
});
afterAll(() => store.close());

const newCell = (body: NewCell['body'] = 'body') => cellOf({ row_key: rowsOfShard(0, SHARDS, 1)[0] ?? '', body });

/** Puts a row into the holder's buffer table, past every check. */
async function buffer(
  cell: NewCell,
  change: { readonly encoded?: Uint8Array; readonly shard?: number } = {},
): Promise<void> {
  const encoded = change.encoded ?? encodeBody(cell.body);
  await store
    .client(holder)
    .change(insertBuffered(store.nameOf('trips'), [{ ...cell, encoded, shard: change.shard ?? 0 }]));
}

async function pass() {
  return drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0, appendsPerSecond: FAST });
}

async function waiting() {
  const group = (await trips.buffer()).find((one) => one.group === holder);
  if (!group || group.error) throw new Error('no buffer');
  return group;
}

/** Passes until nothing of this datastore waits: real readers lag for a moment. */
async function drained(): Promise<void> {
  await expect
    .poll(async () => {
      await pass();
      return (await waiting()).rows;
    }, PATIENT)
    .toBe(0);
}

describe('the drain', () => {
  it.skipIf(WRITER_ONLY)(
    'appends what the primary lacks, keeps it while a reader lags, and deletes it once every reader shows it',
    async () => {
      const cells = [newCell(), newCell(), newCell()];
      for (const cell of cells) await buffer(cell);
      readersLag = true;
      await pass();
      for (const cell of cells) expect((await trips.get(cell)).cell?.body).toBe(cell.body);
      await pass();
      expect((await waiting()).rows).toBe(3);
      readersLag = false;
      await drained();
    },
  );

  it.each([
    ['deletes', 'stored', 'DELETE FROM'],
    ['marks as a conflict', 'another body', "SET state = 'conflict'"],
  ])('%s no other write that was given the id of one that it looked at', async (_, body, change) => {
    const [looked, other] = [newCell('stored'), newCell('other')];
    await trips.put(looked);
    await buffer({ ...looked, body });
    // As after a replica of the holder was promoted without the last rows of its buffer.
    let replaced = 0;
    beforeChange = async (sql) => {
      if (replaced > 0 || !sql.includes('.buffer') || !sql.includes(change)) return;
      const encoded = encodeBody(other.body);
      ({ affectedRows: replaced } = await store.client(holder).change({
        sql: 'UPDATE schemaless.buffer SET row_key = ?, ref_key = ?, body = ?, body_hash = ? WHERE datastore = ? AND row_key = ? AND ref_key = ?',
        parameters: [
          rowKeyBytes(other.row_key),
          other.ref_key,
          encoded,
          bodyHash(encoded),
          store.nameOf('trips'),
          rowKeyBytes(looked.row_key),
          looked.ref_key,
        ],
      }));
    };
    await expect
      .poll(async () => {
        await pass();
        return replaced;
      }, PATIENT)
      .toBe(1);
    expect((await trips.get(other)).cell).toBeNull();
    await drained();
    expect((await trips.get(other)).cell?.body).toBe('other');
  });

  it('keeps the index entries of what it appends', async () => {
    const driver = randomUUID();
    const cell = newCell({ driver_uuid: driver });
    await buffer(cell);
    await drained();
    const { entries } = await trips.query({
      index: 'driver_index',
      where: [{ field: 'driver_uuid', operator: 'eq', values: [driver] }],
    });
    expect(entries.map(({ row_key }) => row_key)).toEqual([cell.row_key]);
  });

  it.skipIf(WRITER_ONLY)('keeps a copy while a reader is down, even if the writer has the cell', async () => {
    const cell = newCell();
    await trips.put(cell);
    await buffer(cell);
    broken.behaviours.set(primary, 'readers-down');
    await pass();
    await pass();
    expect((await waiting()).rows).toBe(1);
    broken.behaviours.clear();
    await drained();
  });

  it('deletes a copy whose body the primary has in another encoding', async () => {
    const cell = newCell({ a: 1, b: 2 });
    await trips.put(cell);
    await buffer({ ...cell, body: { b: 2, a: 1 } });
    await drained();
    expect((await waiting()).conflicts).toBe(0);
  });

  it('keeps what lost against another body as a conflict: listed, never appended, discarded on demand', async () => {
    const cell = newCell('winner');
    await trips.put(cell);
    await buffer({ ...cell, body: 'loser' });
    await drained();
    expect((await waiting()).conflicts).toBe(1);
    const { conflicts, next } = await trips.bufferConflicts();
    expect(conflicts).toEqual([
      {
        ...cell,
        body: 'loser',
        id: expect.stringMatching(new RegExp(`^${holder}/\\d+$`)),
        shard: 0,
        created_at: expect.any(String),
      },
    ]);
    expect(next).toBeNull();
    expect((await trips.get(cell)).cell?.body).toBe('winner');
    await expect(trips.discardConflicts(['nonsense'])).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'ids[0]' },
    });
    expect(await trips.discardConflicts([conflicts[0]?.id ?? ''])).toBe(1);
    expect((await trips.bufferConflicts()).conflicts).toEqual([]);
  });

  it('stores the first of two bodies for one address and keeps the other', async () => {
    const cell = newCell('first');
    await buffer(cell);
    await buffer({ ...cell, body: 'second' });
    await drained();
    expect((await trips.get(cell)).cell?.body).toBe('first');
    const { conflicts } = await trips.bufferConflicts();
    expect(conflicts.map(({ body }) => body)).toEqual(['second']);
    await trips.discardConflicts(conflicts.map(({ id }) => id));
  });

  it('parks a row that cannot be decoded, or belongs nowhere, and goes on with the others', async () => {
    const good = newCell();
    await buffer(newCell(), { encoded: Buffer.from([1, 2, 3]) });
    await buffer(newCell(), { shard: 5 });
    await buffer(newCell(), { shard: 60 });
    await buffer(good);
    for (let round = 0; round < 5; round += 1) await pass();
    await drained();
    expect(await waiting()).toMatchObject({ parked: 3 });
    expect((await trips.get(good)).cell?.body).toBe(good.body);
    const [row] = await store.client(holder).select(
      {
        sql: "SELECT COUNT(*), COUNT(last_error) FROM schemaless.buffer WHERE state = 'parked' AND datastore = ?",
        parameters: [store.nameOf('trips')],
      },
      'writer',
    );
    expect(row?.map(Number)).toEqual([3, 3]);
  });

  it('parks a row whose body is not the one that was buffered, though it can be decoded', async () => {
    const cell = newCell('as it was');
    await buffer(cell);
    await store.client(holder).change({
      sql: 'UPDATE `schemaless`.buffer SET body = ? WHERE row_key = ?',
      parameters: [encodeBody('damaged'), rowKeyBytes(cell.row_key)],
    });
    const parked = (await waiting()).parked;
    await expect
      .poll(async () => {
        await pass();
        return (await waiting()).parked;
      }, PATIENT)
      .toBe(parked + 1);
    expect((await trips.get(cell)).cell).toBeNull();
  });

  it('fetches no bodies of rows that only wait for a reader', async () => {
    const cells = Array.from({ length: 5 }, () => newCell());
    for (const cell of cells) await buffer(cell);
    readersLag = true;
    await pass();
    broken.statements.length = 0;
    await pass();
    expect(broken.statements.filter(({ sql }) => sql.includes('body_hash, body, created_at'))).toEqual([]);
    readersLag = false;
    await drained();
  });

  it('leaves the rows of a dead primary where they are, and drains the others', async () => {
    const dead = newCell();
    await buffer(dead);
    const topology = await store.topology.datastore(store.nameOf('trips'));
    const other = topology?.places.findIndex(({ group }) => group !== primary && group !== holder) ?? -1;
    const living = cellOf({ row_key: rowsOfShard(other, SHARDS, 1)[0] ?? '' });
    await buffer(living, { shard: other });
    broken.behaviours.set(primary, 'down');
    await expect
      .poll(async () => {
        await pass();
        return (await waiting()).rows;
      }, PATIENT)
      .toBe(1);
    expect((await trips.get(living)).cell?.body).toEqual(living.body);
    broken.behaviours.clear();
    await drained();
    expect((await trips.get(dead)).cell?.body).toBe(dead.body);
  });

  it.skipIf(WRITER_ONLY)('checks a page of rows with one statement per node', async () => {
    const cells = Array.from({ length: 50 }, () => newCell());
    await trips.batchPut(cells);
    await expect.poll(async () => (await trips.batchGet(cells, { read: 'reader' })).every(Boolean)).toBe(true);
    for (const cell of cells) await buffer(cell);
    askedNodes = 0;
    broken.statements.length = 0;
    await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0, appendsPerSecond: FAST });
    const primaries = new Set(
      broken.statements.filter(({ target }) => typeof target === 'object').map(({ group }) => group),
    );
    // Rows of other test files wait in the same table: with many of them ours lie on two pages.
    const pages = broken.statements.filter(
      ({ group, sql }) => group === holder && sql.includes('state =') && sql.includes('LIMIT'),
    ).length;
    expect(pages).toBeGreaterThan(0);
    expect(askedNodes).toBeGreaterThan(0);
    expect(askedNodes).toBeLessThanOrEqual(2 * primaries.size * Math.min(2, pages));
    await drained();
  });

  it('sets no write aside that the server refuses for a while: it is appended afterwards', async () => {
    const cells = [newCell('one'), newCell('two')];
    for (const cell of cells) await buffer(cell);
    const before = (await waiting()).parked;
    const entity = `\`${store.nameOf('trips')}_0000\``;
    await store.client(primary).change({
      sql: `CREATE TRIGGER ${entity}.refuses BEFORE INSERT ON ${entity}.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused for a while'`,
      parameters: [],
    });
    for (let round = 0; round < 6; round += 1) await pass();
    expect(await waiting()).toMatchObject({ rows: 2, parked: before });
    const [row] = await store.client(holder).select(
      {
        sql: 'SELECT last_error FROM schemaless.buffer WHERE row_key = ?',
        parameters: [rowKeyBytes(cells[0]?.row_key ?? '')],
      },
      'writer',
    );
    expect(String(row?.[0])).toContain('refused for a while');
    await store.client(primary).change({ sql: `DROP TRIGGER ${entity}.refuses`, parameters: [] });
    await drained();
    for (const cell of cells) expect((await trips.get(cell)).cell?.body).toBe(cell.body);
  });

  it('drains what belongs to the other shards of a primary that refuses a table', async () => {
    const [lost, well] = [newCell(), cellOf({ row_key: rowsOfShard(3, SHARDS, 1)[0] ?? '' })];
    await buffer(lost);
    await buffer(well, { shard: 3 });
    const database = `\`${store.nameOf('trips')}_0000\``;
    await store.client(primary).change({ sql: `RENAME TABLE ${database}.entity TO ${database}.away`, parameters: [] });
    await expect
      .poll(async () => {
        await pass();
        return (await waiting()).rows;
      }, PATIENT)
      .toBe(1);
    expect((await trips.get(well)).cell?.body).toEqual(well.body);
    await store.client(primary).change({ sql: `RENAME TABLE ${database}.away TO ${database}.entity`, parameters: [] });
    await drained();
    expect((await trips.get(lost)).cell?.body).toBe(lost.body);
  });

  it.skipIf(WRITER_ONLY)(
    'keeps a copy that a silent node may lack, though no node says that it is the writer',
    async () => {
      const cell = newCell();
      await trips.put(cell);
      await buffer(cell);
      await expect.poll(async () => (await trips.get(cell, { read: 'reader' })).cell?.body).toBe(cell.body);
      switchingOver = true;
      await pass();
      await pass();
      expect((await waiting()).rows).toBe(1);
      switchingOver = false;
      await drained();
    },
  );

  it('does not go by the times of rows, which are wrong where a clock was', async () => {
    const cell = newCell();
    await buffer(cell);
    await store.client(holder).change({
      sql: 'UPDATE schemaless.buffer SET created_at = SYSDATE(6) + INTERVAL 1 HOUR WHERE row_key = ?',
      parameters: [rowKeyBytes(cell.row_key)],
    });
    expect((await waiting()).oldest_age).toBe(0);
    await drained();
    expect((await trips.get(cell)).cell?.body).toBe(cell.body);

    const young = newCell();
    await buffer(young);
    await store.client(holder).change({
      sql: 'UPDATE schemaless.buffer SET created_at = SYSDATE(6) - INTERVAL 1 HOUR WHERE row_key = ?',
      parameters: [rowKeyBytes(young.row_key)],
    });
    await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 30, appendsPerSecond: FAST });
    expect((await waiting()).rows).toBe(1);
    await drained();
  });

  it('reaches the rows behind thousands of a primary that is away, long before their turn at its pace', async () => {
    const topology = await store.topology.datastore(store.nameOf('trips'));
    const other = topology?.places.findIndex(({ group }) => group !== primary && group !== holder) ?? -1;
    const many = rowsOfShard(0, SHARDS, 3000).map((row_key): BufferedCell => ({
      ...cellOf({ row_key }),
      shard: 0,
      encoded: encodeBody('away'),
    }));
    for (let start = 0; start < many.length; start += 500)
      await store.client(holder).change(insertBuffered(store.nameOf('trips'), many.slice(start, start + 500)));
    const living = cellOf({ row_key: rowsOfShard(other, SHARDS, 1)[0] ?? '' });
    await buffer(living, { shard: other });
    broken.behaviours.set(primary, 'down');
    // At a hundred a second it would be their turn in half a minute.
    const end = performance.now() + 8000;
    await drainPass(store.context, holder, () => performance.now() < end, {
      minimumAgeSeconds: 0,
      appendsPerSecond: 100,
    });
    expect((await trips.get(living)).cell?.body).toEqual(living.body);
    broken.behaviours.clear();
    await store.client(holder).change({
      sql: 'DELETE FROM schemaless.buffer WHERE datastore = ? AND shard = 0',
      parameters: [store.nameOf('trips')],
    });
    await drained();
  });

  it('does not touch rows that are younger than its minimum age', async () => {
    await buffer(newCell());
    expect(
      (await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 30, appendsPerSecond: FAST })).drained,
    ).toBe(0);
    expect((await waiting()).rows).toBe(1);
    await drained();
  });
});
