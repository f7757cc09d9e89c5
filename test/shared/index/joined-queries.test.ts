import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../../shared/cell.ts';
import type { IndexQuery } from '../../../shared/contract/index-query.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { eq } from '../../support/index-on.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 12;
const DRIVERS = 6;
const TRIPS = 9;
const broken = faults();
let isShuffled = false;
const {
  trips,
  primary: group,
  groupOf,
} = await sharedTrips(SHARDS, {
  indexes: SUITE_INDEXES.slice(0, 1),
  wrap: (client, name) => broken.wrap(shuffling(client), name),
});
const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => groupOf(shard) === group);
const drivers = Array.from({ length: DRIVERS }, (_, position) => driverOf(shards[position % shards.length] ?? 0));

beforeAll(async () => {
  await trips.batchPut(
    drivers.flatMap((driver_uuid) =>
      Array.from({ length: TRIPS }, (_, position) =>
        cellOf({ body: { driver_uuid, city: position % 3 === 0 ? 'Faro' : 'Porto', riders: position } }),
      ),
    ),
  );
  await vi.waitFor(async () => {
    const found = await Promise.all(drivers.map((driver) => trips.query(queryOf(driver))));
    if (found.some(({ entries }) => entries.length < TRIPS)) throw new Error('entries are missing');
  }, 15_000);
});

afterEach(() => {
  isShuffled = false;
  broken.behaviours.clear();
  broken.statements.length = 0;
});

function shuffling(client: SqlClient): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      return isShuffled && statement.parts ? rows.toReversed() : rows;
    },
  };
}

function driverOf(shard: number): string {
  for (;;) {
    const driver = randomUUID();
    if (shardOfValue(driver, 'UUID', SHARDS) === shard) return driver;
  }
}

const queryOf = (driver: string, more: Partial<IndexQuery> = {}, ...conditions: IndexQuery['where']): IndexQuery => ({
  index: 'driver_index',
  where: [eq('driver_uuid', driver), ...conditions],
  ...more,
});
const ofFaro = { field: 'city', operator: 'eq', values: ['Faro'] } as const;

async function askBoth(queries: readonly IndexQuery[]) {
  const alone = [];
  for (const query of queries) alone.push(await trips.query(query));
  broken.statements.length = 0;
  const together = await Promise.all(queries.map((query) => trips.query({ ...query, together: true })));
  return { alone, together, statements: broken.statements.map(({ sql }) => sql) };
}

describe('queries of one group that are asked together', () => {
  it('take one statement, and one more for the first of them when it may come alone', async () => {
    const { alone, together, statements } = await askBoth(
      drivers.map((driver, position) =>
        queryOf(driver, { limit: position + 1 }, ...(position % 2 === 0 ? [] : [ofFaro])),
      ),
    );
    expect(together).toEqual(alone);
    expect(together.map(({ entries }) => entries.length)).toEqual([1, 2, 3, 3, 5, 3]);
    expect(statements.length).toBeLessThanOrEqual(2);
  });

  it('take one each where they were not allowed to', async () => {
    await Promise.all(drivers.map((driver) => trips.query(queryOf(driver))));
    expect(broken.statements).toHaveLength(DRIVERS);
  });

  it('go on where their cursors say', async () => {
    const first = await Promise.all(
      drivers.map((driver) => trips.query(queryOf(driver, { limit: 5, together: true }))),
    );
    const { alone, together, statements } = await askBoth(
      drivers.map((driver, position) => queryOf(driver, { limit: 5, after: first[position]?.next ?? '' })),
    );
    expect(together).toEqual(alone);
    expect(statements.length).toBeLessThanOrEqual(2);
    for (const [position, { entries, next }] of together.entries()) {
      const keys = [...(first[position]?.entries ?? []), ...entries].map(({ row_key }) => row_key);
      expect(next).toBeNull();
      expect(keys).toEqual([...new Set(keys)].toSorted());
      expect(keys).toHaveLength(TRIPS);
    }
  });

  it('are answered in order, which a union does not promise', async () => {
    isShuffled = true;
    const { alone, together } = await askBoth(drivers.map((driver) => queryOf(driver, { limit: TRIPS - 1 })));
    expect(together).toEqual(alone);
  });

  it.each<[string, Partial<IndexQuery>, IndexQuery['where']]>([
    ['have an order of their own', { order: 'riders' }, []],
    ['ask for a range', {}, [{ field: 'riders', operator: 'gte', values: [3] }]],
    ['ask for two values at once', {}, [ofFaro, eq('riders', 3)]],
    // The RDS Data API's pages are shorter.
    ...(WRITER_ONLY
      ? []
      : [
          ['may find more than one may ask for', { limit: LIMITS.listCells / 2 + 1 }, []] satisfies [
            string,
            Partial<IndexQuery>,
            IndexQuery['where'],
          ],
        ]),
  ])('take one each where they %s: what reads much holds up nothing else', async (_what, more, conditions) => {
    const { alone, together, statements } = await askBoth(
      drivers.map((driver) => queryOf(driver, more, ...conditions)),
    );
    expect(together).toEqual(alone);
    expect(statements).toHaveLength(DRIVERS);
  });

  it('take one each where they ask how: what is explained is what was run', async () => {
    const { together, statements } = await askBoth(drivers.map((driver) => queryOf(driver, { explain: true })));
    const ran = statements.filter((sql) => !sql.startsWith('EXPLAIN'));
    expect(ran.toSorted()).toEqual(together.map(({ explain }) => explain?.statement).toSorted());
  });

  it('fail together, and leave nothing behind', async () => {
    broken.behaviours.set(group, 'down');
    const results = await Promise.allSettled(drivers.map((driver) => trips.query(queryOf(driver, { together: true }))));
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', retry: 'later' } });
    broken.behaviours.clear();
    const { alone, together } = await askBoth(drivers.map((driver) => queryOf(driver)));
    expect(together).toEqual(alone);
  });

  it('bring their cells along, each its own', async () => {
    const { alone, together } = await askBoth(
      drivers.map((driver) => queryOf(driver, { columns: ['BASE'], limit: 4 })),
    );
    expect(together).toEqual(alone);
    expect(together[1]?.entries[0]?.cells).toMatchObject([{ column_name: 'BASE' }]);
  });
});
