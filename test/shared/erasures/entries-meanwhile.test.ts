import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import type { Json } from '../../../shared/cell.ts';
import { eq } from '../../support/index-on.ts';
import { CITIES, openIndexedStore } from '../index/repair/support/indexed-store.ts';
import { openEraser } from './support.ts';

/** What happens each time that somebody asks where a log ends, right before. */
let meanwhile: (() => Promise<void>) | undefined;
const indexed = await openIndexedStore(
  4,
  (client) => ({
    ...client,
    select: async (statement, role) => {
      if (statement.sql.includes('COALESCE(MAX(added_id), 0) AS head')) await meanwhile?.();
      return client.select(statement, role);
    },
  }),
  [CITIES],
);
afterAll(() => indexed.close());

async function put(row_key: string, column_name: string, ref_key: number, body: Json): Promise<void> {
  const { outcome } = await indexed.trips.put({ row_key, column_name, ref_key, body });
  expect(outcome).toBe('stored');
}

async function driversIn(city: string): Promise<readonly Json[]> {
  const { entries } = await indexed.trips.query({ index: CITIES.name, where: [eq('city', city)] });
  return entries.map(({ fields }) => fields['driver'] ?? null);
}

it('the entry of a cell that comes while another column of its row is erased stays', async () => {
  await using eraser = await openEraser(indexed.store, 'trips');
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
  expect((await eraser.operations.erase({ row_key, column_name: 'CHARGE', reason: 'a test' })).state).toBe('erased');
  expect(meanwhile, 'nobody asked').toBeUndefined();
  expect(await driversIn(city)).toEqual([since]);
});

it('the entry of a version that comes while the one before it is erased is there all the time', async () => {
  await using eraser = await openEraser(indexed.store, 'trips');
  const [row_key, before, since] = [randomUUID(), randomUUID(), randomUUID()];
  const city = `city ${row_key}`;
  await put(row_key, 'BASE', 1, { driver: before, city });
  const seen: (readonly Json[])[] = [];
  meanwhile = async () => {
    if (seen.length === 0) await put(row_key, 'BASE', 2, { driver: since, city });
    await expect.poll(() => driversIn(city)).toEqual([since]);
    seen.push(await driversIn(city));
  };
  const cell = { row_key, column_name: 'BASE', ref_key: 1 };
  expect((await eraser.operations.erase({ ...cell, reason: 'a test' })).state).toBe('erased');
  meanwhile = undefined;
  expect(seen.length, 'nobody asked again').toBeGreaterThan(1);
  expect(await driversIn(city)).toEqual([since]);
});
