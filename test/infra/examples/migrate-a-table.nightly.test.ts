import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { backfill } from '../../../infra/examples/migrate-a-table/backfill.ts';
import { compareAll } from '../../../infra/examples/migrate-a-table/compare.ts';
import { followBack } from '../../../infra/examples/migrate-a-table/follow-back.ts';
import { openMove, type Move, type Phase } from '../../../infra/examples/migrate-a-table/move.ts';
import { COLUMN, orderOf, rowKeyOf, type Order } from '../../../infra/examples/migrate-a-table/order.ts';
import { ordersTable, type OrdersTable } from '../../../infra/examples/migrate-a-table/orders-table.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { wholeStack } from '../../support/whole-stack.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { Till } from './support/till.ts';

vi.setConfig({ testTimeout: 900_000 });

const EXAMPLE = join(PROJECT_ROOT, 'infra/examples/migrate-a-table');
const ORDERS = 1000;
const folder = folderOfTests();
const { groups } = inject('servers');
const stack = wholeStack();
let pool: Pool;
let table: OrdersTable;
let cells: SchemalessClient;
let move: Move;
const tills: Till[] = [];
const following = new AbortController();

beforeAll(async () => {
  const [{ writer, user, password }] = groups as [(typeof groups)[number]];
  const server = { host: writer.host, port: writer.port, user, password };
  const admin = createPool({ ...server, multipleStatements: true });
  const database = `shop_${randomUUID().slice(0, 8)}`;
  await admin.query(
    `CREATE DATABASE ${database}; USE ${database}; ${readFileSync(join(EXAMPLE, 'schema.sql'), 'utf8')}`,
  );
  await admin.end();
  pool = createPool({ ...server, database });
  table = ordersTable(pool);
  move = openMove(pool);
  cells = schemalessClient({ url: stack().url, datastore: 'orders' });
  const values = Array.from({ length: ORDERS }, (_, at) => `(${at % 50}, 'new', ${at})`);
  await pool.query(`INSERT INTO orders (customer, state, total_cents) VALUES ${values.join()}`);
});
afterAll(async () => {
  following.abort();
  await Promise.allSettled(tills.map((till) => till.stop()));
  await pool?.end();
});

it('a table moves while it is changed: no change is lost, and there is a way back', async () => {
  tills.push(...[1, 2, 3, 4].map((seed) => new Till({ table, cells, move, ids: ORDERS }, seed)));
  const goOn = async (some = tills): Promise<void> => {
    const so = some.map((till) => till.changes());
    await expect.poll(() => some.every((till, at) => till.changes() > (so[at] ?? 0) + 5)).toBe(true);
  };
  /** One after another, as processes hear of it. */
  const enter = async (phase: Phase): Promise<void> => {
    await move.set(phase);
    for (const [at, till] of tills.entries()) {
      till.phase = await move.phase();
      if (phase !== 'closing') await goOn(phase === 'cells' ? tills.slice(0, at + 1) : tills);
    }
  };
  await goOn();
  await enter('both');

  // Stops after the first page that it noted.
  const dying: Move = {
    ...move,
    setFilledTo: async (id) => {
      await move.setFilledTo(id);
      throw new Error('killed');
    },
  };
  const half = { ...table, page: (after: number) => table.page(after, ORDERS / 2) };
  await expect(backfill(half, cells, dying)).rejects.toThrow('killed');
  expect(await move.filledTo()).toBe(ORDERS / 2);
  await backfill(table, cells, move);

  await enter('compare');
  // Finds changes from before every till knew of `both`.
  await compareAll(table, cells);
  // A change under way may be in the table alone, but not in every poll.
  await expect.poll(async () => (await compareAll(table, cells)).different).toEqual([]);
  for (const till of tills) till.differences.length = 0;
  await goOn();
  expect(tills.flatMap(({ differences }) => differences)).toEqual([]);

  await enter('closing');
  await expect.poll(() => tills.every((till) => till.isQuiet())).toBe(true);
  expect(await compareAll(table, cells)).toEqual({ compared: ORDERS, different: [] });
  await enter('cells');
  const follower = followBack(table, cells, join(folder.path, 'offsets.json'), following.signal);
  const made = await Promise.all(tills.map((till, at) => till.create(at)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(tills.length);
  await goOn();
  await Promise.all(tills.map((till) => till.stop()));

  for (let id = 1; id <= ORDERS; id += 1) {
    const cents = tills.reduce((sum, { added }) => sum + (added.get(id) ?? 0), 0);
    if (cents > 0) expect((await latest(id)).total_cents).toBe(id - 1 + cents);
  }
  await expect.poll(async () => (await compareLatest(made)).join()).toBe('');
  following.abort();
  await follower;
});

async function latest(id: number): Promise<Order> {
  const { cell } = await cells.getLatest({ row_key: rowKeyOf(id), column_name: COLUMN });
  if (!cell) throw new Error(`order ${id} is not there`);
  return orderOf(cell);
}

/** The orders of which the table does not have the last state yet. */
async function compareLatest(made: readonly Order[]): Promise<readonly number[]> {
  const ids = [...Array.from({ length: 50 }, (_, at) => at + 1), ...made.map(({ id }) => id)];
  const isBehind = async (id: number): Promise<boolean> =>
    JSON.stringify(await table.get(id)) !== JSON.stringify(await latest(id));
  const behind = await Promise.all(ids.map(isBehind));
  return ids.filter((_, at) => behind[at]);
}
