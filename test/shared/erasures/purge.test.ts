import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, inject, it, vi } from 'vitest';
import type { Purge } from '../../../shared/contract/retention-operations.ts';
import { readPurge, writePurge } from '../../../shared/erasures/purge/purge-record.ts';
import { runPurges } from '../../../shared/erasures/purge/run-purges.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { until } from '../../support/until.ts';
import { openEraser } from './support.ts';

const SHARDS = 3;
/** Statements that rebuild a table, in the order in which they were asked; and the group that refuses them. */
const rebuilt: string[] = [];
let refused: string | undefined;
/** The next one is done, and its answer lost. */
let givesUp = false;

const { store, trips, name, primary, entity } = await sharedTrips(SHARDS, {
  wrap: (client, group) => ({
    ...client,
    async select(statement, target) {
      if (!statement.sql.startsWith('OPTIMIZE')) return client.select(statement, target);
      if (group === refused) throw new SqlError('unreachable', 'a test');
      rebuilt.push(statement.sql);
      const rows = await client.select(statement, target);
      if (!givesUp || !statement.sql.includes('.`entity`')) return rows;
      givesUp = false;
      throw new SqlError('unclear', 'a test', { timedOut: true });
    },
  }),
});
const eraser = await openEraser(store, 'trips', 0);
const operations = eraser.retention;

let working: AbortController | undefined;
let polls = 0;
const counted = {
  ...store.context,
  topology: {
    ...store.context.topology,
    datastores() {
      polls += 1;
      return store.context.topology.datastores();
    },
  },
};
afterEach(() => {
  working?.abort();
  rebuilt.length = 0;
  refused = undefined;
});
afterAll(() => eraser[Symbol.asyncDispose]());

/** Works on purges until it is told to end. @param purged told of each table */
function purging(purged?: (purge: Purge) => void): () => Promise<void> {
  const ending = new AbortController();
  working = ending;
  const running = runPurges({
    context: counted,
    stateTable: eraser.stateTable,
    token: 1,
    settings: { lookMs: 20, rest: 0, writesOver: false },
    purged: (_datastore, purge) => purged?.(purge),
    signal: ending.signal,
  });
  return async () => {
    ending.abort();
    await running;
  };
}

const state = async (): Promise<Purge | null> => (await operations.retention()).purge;
const untilPurged = (): Promise<void> => until('it is purged', async () => (await state())?.state === 'purged');
const ofDatastore = (statements: readonly string[]): readonly string[] =>
  statements.filter((sql) => sql.includes(`${name}_`));

it('rebuilds every table of the datastore, and its space comes back', async () => {
  const rows = Array.from({ length: 12 }, () => randomUUID());
  const filler = Array.from({ length: 1500 }, () => randomUUID()).join('');
  for (const row_key of rows) {
    const cells = [0, 1, 2, 3, 4, 5, 6, 7].map((ref_key) => ({ row_key, column_name: 'BASE', ref_key, body: filler }));
    for (const { outcome } of await trips.batchPut(cells)) expect(outcome).toBe('stored');
  }
  for (const row_key of rows) await eraser.operations.erase({ row_key, reason: 'a test' });
  expect((await operations.purge()).state).toBe('purging');
  const stop = purging();
  await untilPurged();
  await stop();
  const done = await state();
  expect(done).toMatchObject({ state: 'purged', requested_by: 'tester', waits_for: null });
  expect(done?.logs_left).toContain(`${store.groups[0]?.name}: `);
  expect(done?.tables).toBe(done?.of);
  expect(new Set(ofDatastore(rebuilt)).size).toBe(SHARDS);
  expect(rebuilt.some((sql) => sql.includes('`schemaless`.`buffer`'))).toBe(true);
  expect(done?.bytes_after).toBeLessThan((done?.bytes_before ?? 0) / 2);
  const found = await trips.get({ row_key: rows[0] ?? '', column_name: 'BASE', ref_key: 1 });
  expect(found.cell).toMatchObject({ erased: true, body: null });
});

it('continues behind the last table when it was cut off, and answers the same record meanwhile', async () => {
  const asked = await operations.purge();
  const cut = Promise.withResolvers<void>();
  let stop = purging(({ tables }) => {
    if (tables < 2) return;
    working?.abort();
    cut.resolve();
  });
  await cut.promise;
  await stop();
  expect(await state()).toMatchObject({ state: 'purging', requested_at: asked.requested_at });
  expect((await operations.purge()).requested_at).toBe(asked.requested_at);
  const first = rebuilt.splice(0);
  stop = purging();
  await untilPurged();
  await stop();
  expect(first.length).toBeGreaterThanOrEqual(2);
  expect(rebuilt.filter((sql) => first.slice(0, 2).includes(sql) && !sql.includes('`schemaless`'))).toEqual([]);
  expect(new Set(ofDatastore([...first, ...rebuilt])).size).toBe(SHARDS);
});

it('does what it can while a group is away, says what it waits for, and finishes when it is back', async () => {
  refused = store.groups[0]?.name;
  await operations.purge();
  const stop = purging();
  await until('it says so', async () => (await state())?.waits_for?.startsWith(`${refused}: `) === true);
  expect((await state())?.state).toBe('purging');
  expect(rebuilt.length).toBeGreaterThan(0);
  refused = undefined;
  await untilPurged();
  await stop();
  expect((await readPurge(eraser.stateTable, name))?.purge.waits_for).toBeNull();
});

it('notices that a server went on with a table for which nobody waited', async () => {
  givesUp = true;
  await operations.purge();
  const stop = purging();
  await untilPurged();
  await stop();
  expect(givesUp).toBe(false);
  const done = ofDatastore(rebuilt);
  // When it was rebuilt servers say by seconds: one that was within the same is done once more.
  expect(done.length).toBeLessThanOrEqual(SHARDS + 1);
  expect(new Set(done).size).toBe(SHARDS);
});

// Over the RDS Data API there is no session that could wait for less long than the server does.
it.skipIf(inject('servers').access === 'data-api')(
  'leaves a table that others are long at for later, not for each poll, and does the rest',
  async () => {
    const holder = await connectionTo(primary);
    await holder.query('BEGIN');
    await holder.query(`SELECT COUNT(*) FROM ${entity(0)}`);
    const asked = await operations.purge();
    const stop = purging();
    const table = entity(0).replaceAll('`', '');
    await until('it waits for the table', async () => (await state())?.waits_for?.includes(table) === true);
    const waiting = await state();
    expect(waiting).toMatchObject({ state: 'purging', requested_at: asked.requested_at });
    expect(waiting?.tables).toBe((waiting?.of ?? 0) - 1);
    expect(new Set(ofDatastore(rebuilt)).size).toBe(SHARDS);
    // Clock: it stands still, so that the table is not tried again, however often the run polls.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const before = polls;
    await until('it polls', () => polls >= before + 2);
    rebuilt.length = 0;
    await until('it polls again', () => polls >= before + 7);
    expect(rebuilt).toEqual([]);
    vi.restoreAllMocks();
    await holder.query('COMMIT');
    await holder.end();
    await untilPurged();
    await stop();
    expect(await state()).toMatchObject({ waits_for: null });
  },
);

it('is written by the holder of the lease alone', async () => {
  await operations.purge();
  const found = await readPurge(eraser.stateTable, name);
  if (!found) throw new Error('no purge');
  expect(await writePurge(eraser.stateTable, name, 2, found)).toBe(true);
  expect(await writePurge(eraser.stateTable, name, 1, found)).toBe(false);
});
