import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { PutResult } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { shardDatabase, shardOf } from '../../../shared/shard.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';

const SHARDS = 12;
const INDEX: IndexDefinition = {
  name: 'city_index',
  fields: [{ field: 'city', type: 'string', column_key: 'BASE' }],
  keys: [],
};
const WRITERS = 32;
const READERS = 16;
/** Longer than both tries of an append. */
const LOCKED_MS = 12_000;
/** Of a statement. */
const LIMIT_MS = 4000;
/** Less than a time limit: a statement that waits for the lock comes to one. */
const QUICK_MS = 2500;
/** Less than any time limit, on a machine that does much else. */
const PROMPT_MS = 3500;

let store: RealStore;
let datastore: Datastore & BufferOperations;
/** The locked shard, and the others of its group. */
let locked: number;
let others: readonly number[];
let group: string;
let holder: Connection;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS }, indexes: { trips: [INDEX] }, access: 'mysql' });
  datastore = await store.deployment.datastore(store.nameOf('trips'));
  const heads = await datastore.heads();
  const [first] = heads;
  if (!first) throw new Error('wanted shards');
  group = first.group;
  locked = first.shard;
  others = heads.filter((head) => head.group === group && head.shard !== locked).map(({ shard }) => shard);
  const address = inject('servers').groups.find(({ name }) => name === group);
  if (!address) throw new Error(`wanted ${group}`);
  holder = await createConnection({ ...address.writer, user: address.user, password: address.password });
});
afterAll(async () => {
  await holder.end();
  await store.close();
});

const COLUMN = { column_name: 'BASE', ref_key: 1 };

function rowIn(shard: number): string {
  for (;;) {
    const row_key = randomUUID();
    if (shardOf(row_key, SHARDS) === shard) return row_key;
  }
}

function cityIn(shard: number): string {
  for (let number = 0; ; number += 1) {
    const city = `city ${number}`;
    if (shardOfValue(city, 'string', SHARDS) === shard) return city;
  }
}

interface Done<T> {
  readonly shard: number;
  readonly ms: number;
  readonly result: T;
}

/** Each does its work again and again, one in four to the locked shard, until the time is up. */
async function workers<T>(count: number, until: number, work: (shard: number) => Promise<T>): Promise<Done<T>[]> {
  const done: Done<T>[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      for (let turn = number; performance.now() < until; turn += 1) {
        const shard = number % 4 === 0 ? locked : (others[turn % others.length] as number);
        const begun = performance.now();
        const result = await work(shard);
        done.push({ shard, ms: performance.now() - begun, result });
        await sleep(5);
      }
    }),
  );
  return done;
}

/** With the cells of the shard locked, and its index. */
async function whileAllIsLocked<T>(work: () => Promise<T>): Promise<T> {
  const database = shardDatabase(store.nameOf('trips'), locked);
  const [rows] = await holder.query('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?', [
    database,
  ]);
  await holder.query(
    `LOCK TABLES ${(rows as { readonly name: string }[]).map(({ name }) => `\`${database}\`.\`${name}\` WRITE`).join(', ')}`,
  );
  try {
    return await work();
  } finally {
    await holder.query('UNLOCK TABLES');
  }
}

async function whileLocked<T>(work: (until: number) => Promise<T>): Promise<T> {
  await holder.query(`LOCK TABLES \`${shardDatabase(store.nameOf('trips'), locked)}\`.entity WRITE`);
  const unlock = sleep(LOCKED_MS).then(() => holder.query('UNLOCK TABLES'));
  try {
    return await work(performance.now() + LOCKED_MS);
  } finally {
    await unlock;
  }
}

/** Nobody waited for the lock. A machine that does much else is slow now and then, and not with many. */
function expectPrompt(done: readonly Done<unknown>[]): void {
  const late = done.filter(({ ms }) => ms >= PROMPT_MS);
  expect(late.length, `of ${done.length}: ${late.map(({ ms }) => Math.round(ms)).join(', ')}`).toBeLessThanOrEqual(
    done.length / 1000,
  );
  expect(slowest(done)).toBeLessThan(2 * LIMIT_MS);
}

const slowest = (done: readonly Done<unknown>[]): number => Math.max(...done.map(({ ms }) => ms));
const circuitsOpened = (): unknown[] => store.events.filter(({ kind }) => kind === 'circuit_opened');

describe('a table that somebody locks', { timeout: 60_000 }, () => {
  it('keeps no write of another shard of its group from being stored, and opens no circuit', async () => {
    const put = (shard: number): Promise<PutResult> =>
      datastore.put({ row_key: rowIn(shard), ...COLUMN, body: { shard } });
    const done = await whileLocked((until) => workers(WRITERS, until, put));
    const ofOthers = done.filter(({ shard }) => shard !== locked);
    expect(ofOthers.length).toBeGreaterThan(WRITERS * 10);
    expect(ofOthers.filter(({ result }) => result.outcome !== 'stored')).toEqual([]);
    expectPrompt(ofOthers);
    // The lock was one: what goes to that shard waited, and was buffered.
    expect(done.some(({ shard, result }) => shard === locked && result.outcome === 'buffered')).toBe(true);
    expect(circuitsOpened()).toEqual([]);
  });

  it('leaves connections for the other shards, however many statements wait for it', async () => {
    const rows = new Map([locked, ...others].map((shard) => [shard, rowIn(shard)]));
    for (const row_key of rows.values()) await datastore.put({ row_key, ...COLUMN, body: 'read' });
    const read = async (shard: number) => {
      const { cells, ...served } = await datastore.row(rows.get(shard) as string);
      return { count: cells.length, served_by: served.served_by };
    };
    const put = (shard: number): Promise<PutResult> =>
      datastore.put({ row_key: rowIn(shard), ...COLUMN, body: { shard } });
    const [reads, writes] = await whileLocked((until) =>
      Promise.all([workers(READERS, until, read), workers(READERS, until, put)]),
    );
    const [readOthers, writtenOthers] = [
      reads.filter(({ shard }) => shard !== locked),
      writes.filter(({ shard }) => shard !== locked),
    ];
    expect(readOthers.filter(({ result }) => result.served_by !== 'writer' || result.count !== 1)).toEqual([]);
    expect(writtenOthers.filter(({ result }) => result.outcome !== 'stored')).toEqual([]);
    expectPrompt(readOthers);
    expectPrompt(writtenOthers);
    expect(circuitsOpened()).toEqual([]);
  });

  it('costs reads that share a statement with it nothing but the time to find it out: they are fresh, and from then on quick', async () => {
    const shards = [locked, ...others];
    const rows = shards.map(rowIn);
    const cities = shards.map(cityIn);
    for (const [place, row_key] of rows.entries())
      await datastore.put({ row_key, ...COLUMN, body: { city: cities[place] ?? '' } });
    const query = (city: string) =>
      datastore.query({
        index: 'city_index',
        where: [{ field: 'city', operator: 'eq', values: [city] }],
        together: true,
      });
    await expect
      .poll(async () => (await Promise.all(cities.map(query))).every(({ entries }) => entries.length === 1))
      .toBe(true);
    const served = (one: unknown): string => String(Object(one).error ? 'error' : Object(one).served_by);
    const reads: Readonly<Record<string, () => Promise<readonly string[]>>> = {
      get: async () => (await Promise.all(rows.map((row_key) => datastore.get({ row_key, ...COLUMN })))).map(served),
      batchGet: async () =>
        (await datastore.batchGet(rows.map((row_key) => ({ row_key, column_name: 'BASE' })))).map(served),
      log: async () => (await datastore.log(shards.map((shard) => ({ shard, after: 0 })))).map(served),
      query: async () => (await Promise.all(cities.map(query))).map(served),
    };
    const ofWriter = others.map(() => 'writer');
    await whileAllIsLocked(async () => {
      // Each kind has statements of its own, and an index tables of its own.
      for (const read of [reads['get'], reads['query']]) expect((await read?.())?.slice(1)).toEqual(ofWriter);
      for (const [kind, read] of Object.entries(reads)) {
        const begun = performance.now();
        const [own, ...rest] = await read();
        expect([kind, own, ...rest]).toEqual([kind, 'reader', ...ofWriter]);
        expect(performance.now() - begun, kind).toBeLessThan(QUICK_MS);
      }
    });
    // Free again, it is read from its writer again.
    await expect.poll(async () => (await reads['batchGet']?.())?.[0], { timeout: 8000 }).toBe('writer');
    expect(circuitsOpened()).toEqual([]);
  });
});
