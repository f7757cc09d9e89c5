import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { PutResult } from '../../../shared/cell.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { onceInTime, TIMED } from '../../support/timed.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';

const SHARDS = 12;
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

const { store, trips, name, primary, groupOf, entity, rowIn } = await sharedTrips(SHARDS, {
  indexes: [indexOn('city_index', { city: 'string' })],
  access: 'mysql',
});
/** The locked shard, and the others of its group. */
const locked = 0;
const others = Array.from({ length: SHARDS }, (_, shard) => shard).filter(
  (shard) => shard !== locked && groupOf(shard) === primary,
);
const holder = await connectionTo(primary);
afterAll(() => holder.end());

const COLUMN = { column_name: 'BASE', ref_key: 1 };
const put = (shard: number): Promise<PutResult> => trips.put({ row_key: rowIn(shard), ...COLUMN, body: { shard } });

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
  const database = shardDatabase(name, locked);
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
  await holder.query(`LOCK TABLES ${entity(locked)} WRITE`);
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

describe('a table that somebody locks', () => {
  beforeEach(() => void store.events.splice(0));

  it('keeps no write of another shard of its group from being stored, and opens no circuit', async () => {
    await onceInTime(async () => {
      const done = await whileLocked((until) => workers(WRITERS, until, put));
      const ofOthers = done.filter(({ shard }) => shard !== locked);
      expect(ofOthers.length).toBeGreaterThan(WRITERS * 10);
      expect(ofOthers.filter(({ result }) => result.outcome !== 'stored')).toEqual([]);
      // The lock was one: what goes to that shard waited, and was buffered.
      expect(done.some(({ shard, result }) => shard === locked && result.outcome === 'buffered')).toBe(true);
      expect(circuitsOpened()).toEqual([]);
      return () => expectPrompt(ofOthers);
    });
  });

  it('leaves connections for the other shards, however many statements wait for it', async () => {
    const rows = new Map([locked, ...others].map((shard) => [shard, rowIn(shard)]));
    for (const row_key of rows.values()) await trips.put({ row_key, ...COLUMN, body: 'read' });
    const read = async (shard: number) => {
      const { cells, ...served } = await trips.row(rows.get(shard) as string);
      return { count: cells.length, served_by: served.served_by };
    };
    await onceInTime(async () => {
      const [reads, writes] = await whileLocked((until) =>
        Promise.all([workers(READERS, until, read), workers(READERS, until, put)]),
      );
      const [readOthers, writtenOthers] = [
        reads.filter(({ shard }) => shard !== locked),
        writes.filter(({ shard }) => shard !== locked),
      ];
      expect(readOthers.filter(({ result }) => result.served_by !== 'writer' || result.count !== 1)).toEqual([]);
      expect(writtenOthers.filter(({ result }) => result.outcome !== 'stored')).toEqual([]);
      expect(circuitsOpened()).toEqual([]);
      return () => {
        expectPrompt(readOthers);
        expectPrompt(writtenOthers);
      };
    });
  });

  it(
    'costs reads that share a statement with it nothing but the time to find it out: they are fresh, and from then on quick',
    TIMED,
    async () => {
      const shards = [locked, ...others];
      const rows = shards.map(rowIn);
      const cities = shards.map(cityIn);
      for (const [position, row_key] of rows.entries())
        await trips.put({ row_key, ...COLUMN, body: { city: cities[position] ?? '' } });
      const query = (city: string) => trips.query({ index: 'city_index', where: [eq('city', city)], together: true });
      await expect
        .poll(async () => (await Promise.all(cities.map(query))).every(({ entries }) => entries.length === 1))
        .toBe(true);
      const served = (one: unknown): string => String(Object(one).error ? 'error' : Object(one).served_by);
      const reads: Readonly<Record<string, () => Promise<readonly string[]>>> = {
        get: async () => (await Promise.all(rows.map((row_key) => trips.get({ row_key, ...COLUMN })))).map(served),
        batchGet: async () =>
          (await trips.batchGet(rows.map((row_key) => ({ row_key, column_name: 'BASE' })))).map(served),
        log: async () => (await trips.log(shards.map((shard) => ({ shard, after: 0 })))).map(served),
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
      await expect.poll(async () => (await reads['batchGet']?.())?.[0], { timeout: 20_000 }).toBe('writer');
      expect(circuitsOpened()).toEqual([]);
    },
  );
});
