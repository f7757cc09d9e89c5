import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { indexTable } from '../../../../shared/index/index-table.ts';
import { verifyIndex } from '../../../../shared/index/verify.ts';
import { SqlError, type SqlClient } from '../../../../shared/sql/client.ts';
import { entityTable } from '../../../../shared/sql/names.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { until } from '../../../support/until.ts';
import { noEntries } from './support/entry-writes.ts';
import { changeable, sharedIndexed, type Wrap } from './support/indexed-store.ts';
import { shardOfValue } from '../../../../shared/definitions/field-value.ts';

const SHARDS = 12;
const ROWS = 10;

const { between, wrap } = changeable();
const indexed = await sharedIndexed(SHARDS, wrap);
const index = await indexed.live();
const shardsOf = (group: string): number[] =>
  Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => indexed.groupOf(shard) === group);

/** Refuses, as a server does whose table is damaged, or hangs as it does while one is locked. */
const faulty =
  (table: string, fault: () => Promise<never>): Wrap =>
  (client: SqlClient) => ({
    ...client,
    select: (statement, target) => (statement.sql.includes(table) ? fault() : client.select(statement, target)),
    change: (statement) => (statement.sql.includes(table) ? fault() : client.change(statement)),
  });
const damaged = async (): Promise<never> => {
  throw new SqlError('rejected', 'Index for table is corrupt; try to repair it', { errno: 1034 });
};
const locked = async (): Promise<never> => {
  await sleep(100); // Clock: a fake that is busy
  throw new SqlError('unclear', 'no answer in time', { timedOut: true });
};

/** Writes rows without their entries to shards; all under one driver by default. */
async function rowsWithoutEntries(
  shards: readonly number[],
  driver?: () => string,
): Promise<{ readonly row_key: string; readonly driver: string; readonly shard: number }[]> {
  const one = randomUUID();
  const rows = shards.flatMap((shard) =>
    rowsOfShard(shard, SHARDS, ROWS).map((row_key) => ({ row_key, driver: driver?.() ?? one, shard })),
  );
  between.now = noEntries;
  await indexed.write(rows.map(({ row_key, driver: of }) => ({ row_key, body: { driver: of } })));
  between.now = (client) => client;
  return rows;
}

function driverWhere(isBad: (row: { readonly driver: string }) => boolean, wanted: boolean): string {
  for (;;) {
    const driver = randomUUID();
    if (isBad({ driver }) === wanted) return driver;
  }
}

/** Waits for entries by a query for each driver, which must leave the repair some time. */
const RARELY = { pollMs: 250 };

async function entriesOf(drivers: ReadonlySet<string>): Promise<Set<string>> {
  return new Set((await Promise.all([...drivers].map(indexed.found))).flat());
}

describe('the repair, of tables of one group, one of which', () => {
  it.each([
    ['is damaged', damaged],
    ['is locked', locked],
  ] as const)(
    'holds cells and %s, keeps the other shards of the group in order, and this one once it can be read',
    async (_what, failing) => {
      const [bad = 0, ...good] = shardsOf('group-2');
      const fault: { now: Wrap } = { now: faulty(entityTable(indexed.datastore, bad), failing) };
      const run = indexed.repair({
        // A shard that is asked again at once is left for later all the same.
        settings: { slowShardRestMs: 0 },
        wrap: (client, group) => ({
          ...client,
          select: (statement, target) =>
            target === 'writer' ? fault.now(client, group).select(statement, target) : client.select(statement, target),
        }),
      });
      try {
        const rows = await rowsWithoutEntries([bad, ...good]);
        const drivers = new Set(rows.map(({ driver }) => driver));
        const wanted = new Set(rows.filter(({ shard }) => shard !== bad).map(({ row_key }) => row_key));
        await until('the others are repaired', async () => (await entriesOf(drivers)).size === wanted.size, RARELY);
        expect(await entriesOf(drivers)).toEqual(wanted);
        // Without readers its log cannot be read either, which the follower tells.
        const told = () =>
          run.events.filter(
            (event) =>
              (event.kind === 'failed' && event.what === `the rows of shard ${bad}`) ||
              (event.kind === 'followed' && event.event.kind === 'shard_failed' && event.event.shard === bad),
          );
        await until('it is told', () => told().length > 0);
        fault.now = (client) => client;
        await until('all are repaired', async () => (await entriesOf(drivers)).size === rows.length, RARELY);
        expect(told()).toHaveLength(1);
      } finally {
        await run.stop();
      }
    },
  );

  it('holds entries and is damaged, keeps those of the others in order, and gives it its own once it can take them', async () => {
    const [bad = 0] = shardsOf('group-3');
    const shards = shardsOf('group-1');
    const fault: { now: Wrap } = { now: faulty(indexTable(indexed.datastore, bad, index), damaged) };
    const run = indexed.repair({
      wrap: (client, group) => ({
        ...client,
        select: (statement, target) => fault.now(client, group).select(statement, target),
        change: (statement) => fault.now(client, group).change(statement),
      }),
    });
    try {
      const isBad = ({ driver }: { readonly driver: string }): boolean => shardOfValue(driver, 'UUID', SHARDS) === bad;
      // One in four is the damaged table's: left to chance, it now and then gets none of them.
      let made = 0;
      const rows = await rowsWithoutEntries(shards, () => driverWhere(isBad, made++ % 4 === 0));
      const drivers = new Set(rows.map(({ driver }) => driver));
      const wanted = new Set(rows.filter((row) => !isBad(row)).map(({ row_key }) => row_key));
      await until('the others are repaired', async () => (await entriesOf(drivers)).size === wanted.size, RARELY);
      expect(await entriesOf(drivers)).toEqual(wanted);
      const later = await rowsWithoutEntries(
        shards.slice(0, 1),
        () => [...drivers].find((driver) => !isBad({ driver })) ?? '',
      );
      await until('later ones too', async () => (await entriesOf(drivers)).size === wanted.size + later.length, RARELY);
      fault.now = (client) => client;
      await until(
        'all are repaired',
        async () => (await entriesOf(drivers)).size === rows.length + later.length,
        RARELY,
      );
      await until('no mark is left', () => run.events.some(({ kind }) => kind === 'caught_up'));
    } finally {
      await run.stop();
    }
    expect(await indexed.problems()).toEqual([]);
  });
});

describe('the verification, of a datastore of which one table is damaged', () => {
  it('compares and repairs the rest, and reports the shard that it could not', async () => {
    const [bad = 0, good = 1] = shardsOf('group-2');
    const rows = await rowsWithoutEntries([bad, good]);
    const wrapped = {
      ...indexed.store.context,
      groups: {
        ...indexed.store.context.groups,
        client: async (group: string) =>
          faulty(entityTable(indexed.datastore, bad), damaged)(indexed.store.client(group), group),
      },
    };
    const verified = await verifyIndex(wrapped, indexed.datastore, index, { settleMs: 10, repair: true });
    expect([...verified.failed.keys()]).toEqual([bad]);
    expect(verified.found).toEqual({ missing: rows.length / 2, wrong: 0, extra: 0 });
    expect(verified.repaired).toBe(rows.length / 2);
    expect((await indexed.problems('drivers', true)).length).toBe(rows.length / 2);
  });
});
