import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Json } from '../../../shared/cell.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { shardOf } from '../../../shared/address.ts';
import { carryOut, newErasure } from '../../../shared/erasures/carry-out.ts';
import { idOf } from '../../../shared/erasures/erasure-record.ts';
import { readState } from '../../../shared/dynamo/state-table.ts';
import { CITIES, DRIVERS, sharedIndexed } from '../index/repair/support/indexed-store.ts';
import { openEraser } from './support.ts';

/** Hooks that run right before each read of a log's end, and right before and after each removal of bodies. */
let meanwhile: (() => Promise<void>) | undefined;
let [beforeBodiesGo, onceTheyAreGone] = [async (): Promise<void> => undefined, (): void => undefined];
/** The error that writes of entries throw. */
let failure: Error | undefined;
const indexed = await sharedIndexed(
  4,
  (client) => ({
    ...client,
    select: async (statement, role) => {
      if (statement.sql.includes('COALESCE(MAX(added_id), 0) AS head')) await meanwhile?.();
      return client.select(statement, role);
    },
    change: async (statement) => {
      const doBodiesGo = statement.sql.includes('SET body = CASE added_id');
      if (doBodiesGo) await beforeBodiesGo();
      if (failure && statement.sql.includes('tombstone_at')) throw failure;
      const changed = await client.change(statement);
      if (doBodiesGo) onceTheyAreGone();
      return changed;
    },
  }),
  [DRIVERS, CITIES],
);

const eraser = await openEraser(indexed.store, 'trips');
/** Reads where the entries of an unfinished erasure are. */
const places = (id: string) => readState(eraser.stateTable, `erasing#${indexed.datastore}#${id}`);

async function put(row_key: string, column_name: string, ref_key: number, body: Json): Promise<void> {
  const { outcome } = await indexed.trips.put({ row_key, column_name, ref_key, body });
  expect(outcome).toBe('stored');
}

const hexOf = (rowKey: string): string => rowKey.replaceAll('-', '');

async function driversIn(city: string): Promise<readonly Json[]> {
  const { entries } = await indexed.trips.query({ index: CITIES.name, where: { city } });
  return entries.map(({ fields }) => fields['driver'] ?? null);
}

it('the entry of a cell that comes while another column of its row is erased stays', async () => {
  const [row_key, before, since] = [randomUUID(), randomUUID(), randomUUID()];
  const city = `city ${row_key}`;
  await put(row_key, 'BASE', 1, { driver: before, city });
  await put(row_key, 'CHARGE', 1, { amount: 3 });
  expect(await driversIn(city)).toEqual([before]);
  meanwhile = async () => {
    meanwhile = undefined;
    await put(row_key, 'BASE', 2, { driver: since, city });
    await expect.poll(() => driversIn(city)).toEqual([since]);
  };
  await eraser.erased({ row_key, column_name: 'CHARGE', reason: 'a test' });
  expect(meanwhile, 'nobody asked').toBeUndefined();
  expect(await driversIn(city)).toEqual([since]);
});

it('the entry of a version that comes while the one before it is erased is there all the time', async () => {
  const [row_key, before, since] = [randomUUID(), randomUUID(), randomUUID()];
  const city = `city ${row_key}`;
  await put(row_key, 'BASE', 1, { driver: before, city });
  const seen: (readonly Json[])[] = [];
  meanwhile = async () => {
    if (seen.length === 0) await put(row_key, 'BASE', 2, { driver: since, city });
    await expect.poll(() => driversIn(city)).toEqual([since]);
    seen.push(await driversIn(city));
  };
  const { id } = await eraser.erased({ row_key, column_name: 'BASE', ref_key: 1, reason: 'a test' });
  meanwhile = undefined;
  expect(seen.length, 'no second request').toBeGreaterThan(1);
  expect(await driversIn(city)).toEqual([since]);
  expect(await places(id)).toBeUndefined();
});

it.each([
  ['fails', () => (failure = new SqlError('unreachable', 'a test'))],
  ['never comes', () => fail()],
])('what is written of bodies while they go is gone where taking it away %s at first', async (_, happens) => {
  const [row_key, driver] = [randomUUID(), randomUUID()];
  await put(row_key, 'BASE', 1, { driver, city: 'Rome' });
  const live = (): Promise<number> => indexed.countEntries(`tombstone_at IS NULL AND row_key = X'${hexOf(row_key)}'`);
  // Its entry has what the body says that is about to go.
  beforeBodiesGo = () => put(row_key, 'STATUS', 1, { is_done: true });
  onceTheyAreGone = () => void happens();
  const target = { row_key, column_name: 'BASE', reason: 'a test' };
  const first = await eraser.operations.eraseCells(target).catch(() => undefined);
  expect(first?.state).not.toBe('erased');
  [failure, beforeBodiesGo, onceTheyAreGone] = [undefined, async () => undefined, () => undefined];
  expect(await live(), 'nothing was written since').toBe(1);

  const { id } = await eraser.erased(target);
  expect(await live()).toBe(0);
  expect(await indexed.found(driver)).toEqual([]);
  expect(await places(id)).toBeUndefined();
});

it('a turn leaves no record of finished entries, and concurrent turns keep the record of its unfinished ones', async () => {
  const [row_key, driver] = [randomUUID(), randomUUID()];
  const cell = { row_key, column_name: 'BASE', body: { driver, city: 'Rome' } };
  const cells = Array.from({ length: 450 }, (_, ref_key) => ({ ...cell, ref_key }));
  for (let at = 0; at < cells.length; at += 50) await indexed.trips.batchPut(cells.slice(at, at + 50));
  const target = { row_key, column_name: 'BASE' };
  const id = idOf(indexed.datastore, target);
  const of = { id, scope: 'column', ref_key: null, up_to: null, reason: '', requested_by: '' } as const;
  const erasure = newErasure({ ...target, ...of, shard: shardOf(row_key, 4) });
  const work = { ...indexed.store, stateTable: eraser.stateTable, backupDays: 0 };
  const turn = (pages: number) => {
    let asked = 0;
    return carryOut(work, indexed.datastore, erasure, { mayGoOn: () => (asked += 1) <= pages, pollsMs: [0] });
  };
  expect(await turn(1)).toMatchObject({ state: 'erasing', erased: { cells: 100 } });
  expect(await places(id), 'of what is done').toBeUndefined();

  let page = 0;
  beforeBodiesGo = async () => {
    page += 1;
    const own = beforeBodiesGo;
    beforeBodiesGo = async () => undefined;
    if (page === 1) expect(await turn(1)).toMatchObject({ state: 'erasing' });
    if (page === 2) await put(row_key, 'STATUS', 1, { is_done: true });
    beforeBodiesGo = own;
  };
  onceTheyAreGone = () => {
    if (page === 2) failure = new SqlError('unreachable', 'a test');
  };
  expect(await turn(100)).toMatchObject({ state: 'erasing' });
  [failure, beforeBodiesGo, onceTheyAreGone] = [undefined, async () => undefined, () => undefined];
  expect(await places(id), 'of what is not done').toBeDefined();
  await expect.poll(() => turn(100)).toMatchObject({ state: 'erased' });
  expect(await indexed.found(driver)).toEqual([]);
  expect(await places(id)).toBeUndefined();
});

function fail(): never {
  throw new Error('killed');
}
