import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import type { Json } from '../../../shared/cell.ts';
import { eq } from '../../support/index-on.ts';
import { openIndexedStore } from '../index/repair/support/indexed-store.ts';
import { openEraser } from './support.ts';

const CITIES = {
  name: 'cities',
  fields: [
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'driver', type: 'UUID', column_key: 'BASE' },
  ],
  keys: [],
} as const;

/** What happens once, right before somebody asks where a log ends. */
let meanwhile: (() => Promise<void>) | undefined;
const indexed = await openIndexedStore(
  4,
  (client) => ({
    ...client,
    select: async (statement, role) => {
      if (meanwhile && statement.sql.includes('COALESCE(MAX(added_id), 0) AS head')) {
        const now = meanwhile;
        meanwhile = undefined;
        await now();
      }
      return client.select(statement, role);
    },
  }),
  [CITIES],
);
afterAll(() => indexed.close());

it('the entry of a cell that comes while another column of its row is erased stays', async () => {
  await using eraser = await openEraser(indexed.store, 'trips');
  const [row_key, before, since] = [randomUUID(), randomUUID(), randomUUID()];
  const city = `city ${row_key}`;
  const put = async (column_name: string, ref_key: number, body: Json): Promise<void> => {
    const { outcome } = await indexed.trips.put({ row_key, column_name, ref_key, body });
    expect(outcome).toBe('stored');
  };
  const drivers = async (): Promise<readonly Json[]> => {
    const { entries } = await indexed.trips.query({ index: CITIES.name, where: [eq('city', city)] });
    return entries.map(({ fields }) => fields['driver'] ?? null);
  };
  await put('BASE', 1, { driver: before, city });
  await put('CHARGE', 1, { amount: 3 });
  expect(await drivers()).toEqual([before]);
  meanwhile = async () => {
    await put('BASE', 2, { driver: since, city });
    await expect.poll(drivers).toEqual([since]);
  };
  expect((await eraser.operations.erase({ row_key, column_name: 'CHARGE', reason: 'a test' })).state).toBe('erased');
  expect(meanwhile, 'nobody asked').toBeUndefined();
  expect(await drivers()).toEqual([since]);
});
