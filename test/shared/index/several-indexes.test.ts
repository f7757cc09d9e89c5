import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { SqlError, type Statement } from '../../../shared/sql/client.ts';
import { until } from '../../support/until.ts';
import { rowsOfShard } from '../../support/datastore-conformance.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { noEntries } from './repair/support/entry-writes.ts';
import { changeable, CITIES, DRIVERS, sharedIndexed, type Wrap } from './repair/support/indexed-store.ts';

const SHARDS = 4;

let cells = 0;
let written: string[] = [];
let read = 0;
let asked = 0;
const asItIs: Wrap = (client) => client;
const { between, wrap } = changeable(asItIs);
/** Nothing was done: statements go one by one. */
const SINGLY = new SqlError('contention', 'no transactions');

const note = ({ sql, readAfter = [] }: Statement): void => {
  const keys = readAfter.flatMap((one) => one.from(0).parameters.filter((value) => value instanceof Uint8Array));
  read += keys.filter(({ length }) => length === 16).length;
  const [, name] = /^INSERT INTO `[^`]+`\.`([a-z]+)_[0-9a-f]+` \(f0, /u.exec(sql) ?? [];
  if (name !== undefined) written.push(`${name} ${sql.includes('ON DUPLICATE KEY') ? 'put' : 'inserted'}`);
};
const indexed = await sharedIndexed(
  SHARDS,
  (client, group) => {
    const { transactions, ...next } = wrap(client, group);
    return {
      ...next,
      select: (statement, role) => {
        if (statement.sql.includes('IF(LENGTH(body)')) asked += 1;
        return next.select(statement, role);
      },
      change: (statement) => {
        note(statement);
        return next.change(statement);
      },
      ...(transactions && {
        transactions: {
          ...transactions,
          run: (statements) => {
            if (between.now !== asItIs) return Promise.reject(SINGLY);
            statements.forEach(note);
            return transactions.run(statements);
          },
        },
      }),
    };
  },
  [DRIVERS, CITIES],
);

beforeEach(() => {
  between.now = asItIs;
});

const INSERTED = WRITER_ONLY ? 'put' : 'inserted';

type Written = Pick<NewCell, 'row_key' | 'column_name' | 'body'>;

async function put(...some: readonly Written[]): Promise<void> {
  [written, read, asked] = [[], 0, 0];
  const results = await indexed.trips.batchPut(some.map((cell) => ({ ...cell, ref_key: (cells += 1) })));
  expect(results.map(({ outcome }) => outcome)).toEqual(some.map(() => 'stored'));
}

async function brings(some: readonly Written[], wanted: readonly string[]): Promise<void> {
  await put(...some);
  await expect.poll(() => written.toSorted()).toEqual(wanted);
}

const base = (row_key: string, driver: string = randomUUID()): Written => ({
  row_key,
  column_name: 'BASE',
  body: { driver, city: randomUUID() },
});
const status = (row_key: string, is_done = true): Written => ({ row_key, column_name: 'STATUS', body: { is_done } });
const charge = (row_key: string): Written => ({ row_key, column_name: 'CHARGE', body: { amount: 3 } });

async function problems(): Promise<number> {
  return (await indexed.problems('drivers')).length + (await indexed.problems('cities')).length;
}

describe('of several indexes', () => {
  it('those are written that read the column of a cell, and of its row alone', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const both = [`cities ${INSERTED}`, `drivers ${INSERTED}`];
    await brings([base(first)], both);
    await brings([charge(first)], []);
    await brings([status(first)], ['drivers put']);
    await brings([base(second), charge(first)], both);
    await brings([status(second), charge(second)], ['drivers put']);
    await brings([charge(second), base(third), status(third)], both);
    // Rows of one shard, whose cells are appended together; their entries lie in two.
    const [fourth, fifth, sixth] = rowsOfShard(0, SHARDS, 3) as [string, string, string];
    const [one, other] = [0, 1].map((shard) => rowsOfShard(shard, SHARDS, 1)[0]);
    await brings([base(fourth, one)], both);
    await brings([status(fourth), base(fifth, other), charge(sixth)], [...both, 'drivers put']);
    expect(read).toBe(2);
    expect(await problems()).toBe(0);
  });

  it.skipIf(WRITER_ONLY)('rows are read behind their appends, each for the indexes that concern it', async () => {
    const { groupOf } = indexed;
    const batched = Array.from({ length: SHARDS }, (_, shard) => shard).filter((one) => groupOf(one) === groupOf(0));
    const [row = '', other = ''] = batched.slice(0, 2).flatMap((shard) => rowsOfShard(shard, SHARDS, 1));
    await brings([base(row)], [`cities ${INSERTED}`, `drivers ${INSERTED}`]);
    await put(status(row), base(other));
    await expect.poll(() => written.length).toBeGreaterThanOrEqual(2);
    expect([read, asked]).toEqual([2, 0]);
  });

  it('rows of many cells are read as far as is needed, and it is remembered which columns those are of', async () => {
    const [row = ''] = rowsOfShard(2, SHARDS, 1);
    const driver = randomUUID();
    const same = base(row, driver);
    const isDone = async (): Promise<readonly unknown[]> => {
      const { entries } = await indexed.trips.query({ index: 'drivers', where: { driver } });
      return entries.map(({ fields }) => fields['is_done']);
    };
    const many = Array.from({ length: 30 }, () => [same, status(row)]).flat();
    await put(same, status(row));
    expect(asked).toBe(WRITER_ONLY ? 1 : 0);
    await put(...many, status(row, false));
    await expect.poll(isDone).toEqual([false]);
    expect(asked, 'it was known without asking').toBeGreaterThan(WRITER_ONLY ? 1 : 0);
    await put(same, status(row));
    await put(same, status(row, false));
    expect(asked, 'it was not remembered').toBe(WRITER_ONLY ? 1 : 0);
    await put(status(row));
    await expect.poll(isDone).toEqual([true]);
    expect(await problems()).toBe(0);
  });

  it('each is written by the request that wrote the cell, also where appends were joined', async () => {
    const [first = '', ...others] = rowsOfShard(1, SHARDS, 9);
    await Promise.all([...others.map((other) => put(charge(other))), put(base(first)), put(status(first))]);
    await expect.poll(problems).toBe(0);
    expect(written.filter((one) => one === `drivers ${INSERTED}`)).toHaveLength(WRITER_ONLY ? 2 : 1);
  });

  it('those are repaired whose columns have new cells, where they are not as they should be', async () => {
    const rows = Array.from({ length: 20 }, () => randomUUID());
    for (const row of rows) await put(base(row));
    for (const row of rows) await put(status(row), charge(row));
    between.now = noEntries;
    const [late, both] = [rows[0] as string, randomUUID()];
    await put(status(late, false));
    await put(base(both), status(both));
    between.now = asItIs;
    expect(await problems(), 'with the repair off').toBe(3);
    const run = indexed.repair();
    await until('no problems', async () => (await problems()) === 0);
    await run.stop();
    expect(run.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect(run.events.reduce((sum, event) => sum + (event.kind === 'repaired' ? event.entries : 0), 0)).toBe(3);
  });
});
