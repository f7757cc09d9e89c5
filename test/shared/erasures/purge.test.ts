import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { Purge, RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import { runPurges } from '../../../shared/erasures/purge/run-purges.ts';
import { readPurge, writePurge } from '../../../shared/erasures/purge/purge-record.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { comes } from '../../support/until.ts';
import { openEraser, type Eraser } from './support.ts';

// Tables are written anew one after the other, on servers that others use, too.
const SHARDS = 4;
const PATIENCE = { patienceMs: 60_000, pollMs: 50 };

let store: RealStore;
let trips: Datastore;
let name: string;
let eraser: Eraser;
let operations: RetentionOperations;
/** Statements that write a table anew, in the order in which they were asked; and of which group none may. */
const rebuilt: string[] = [];
let refused: string | undefined;
/** Of the next one nobody is told how it ended, though it is done. */
let givesUp = false;
let working: AbortController | undefined;

beforeAll(async () => {
  store = await openRealStore({
    datastores: { purged: SHARDS },
    wrap: (client, group) => ({
      ...client,
      async select(statement, target) {
        if (statement.sql.startsWith('OPTIMIZE')) {
          if (group === refused) throw new SqlError('unreachable', 'a test');
          rebuilt.push(statement.sql);
          if (givesUp && statement.sql.includes('.`entity`')) {
            givesUp = false;
            await client.select(statement, target);
            throw new SqlError('unclear', 'a test', { timedOut: true });
          }
        }
        return client.select(statement, target);
      },
    }),
  });
  name = store.nameOf('purged');
  trips = await store.deployment.datastore(name);
  eraser = await openEraser(store, 'purged');
  const { context, topologyTable } = store;
  const work = { context, topologyTable, stateTable: eraser.stateTable, backupDays: 0 };
  operations = await erasureManagement(work).retention(name, 'tester');
});
afterEach(() => {
  working?.abort();
  rebuilt.length = 0;
  refused = undefined;
});
afterAll(async () => {
  await eraser[Symbol.asyncDispose]();
  await store.close();
});

/** Works on purges until it is told to end. @param purged told of each table */
function purging(purged?: (purge: Purge) => void): () => Promise<void> {
  const ending = new AbortController();
  working = ending;
  const running = runPurges({
    context: store.context,
    stateTable: eraser.stateTable,
    token: 1,
    settings: { lookMs: 50, rest: 0, writesOver: false },
    purged: (_datastore, purge) => purged?.(purge),
    signal: ending.signal,
  });
  return async () => {
    ending.abort();
    await running;
  };
}

const state = async (): Promise<Purge | null> => (await operations.retention()).purge;
const isPurged = async (): Promise<boolean> => (await state())?.state === 'purged';
const ofDatastore = (statements: readonly string[]): readonly string[] =>
  statements.filter((sql) => sql.includes(`${name}_`));

it('writes every table of the datastore anew, and its space comes back', async () => {
  const rows = Array.from({ length: 40 }, () => randomUUID());
  const filler = Array.from({ length: 1500 }, () => randomUUID()).join('');
  for (const row_key of rows)
    for (const { outcome } of await trips.batchPut(
      Array.from({ length: 8 }, (_, ref_key) => ({ row_key, column_name: 'BASE', ref_key, body: { ref_key, filler } })),
    ))
      expect(outcome).toBe('stored');
  for (const row_key of rows) await eraser.operations.erase({ row_key, reason: 'a test' });

  expect((await operations.purge()).state).toBe('purging');
  const stop = purging();
  expect(await comes(isPurged, PATIENCE)).toBe(true);
  await stop();
  const done = await state();
  expect(done).toMatchObject({ state: 'purged', requested_by: 'tester', waits_for: null });
  expect(done?.logs_left).toContain(`${store.groups[0]?.name}: `);
  expect(done?.tables).toBe(done?.of);
  expect(new Set(ofDatastore(rebuilt)).size).toBe(SHARDS);
  expect(rebuilt.some((sql) => sql.includes('`schemaless`.`buffer`'))).toBe(true);
  expect(done?.bytes_after).toBeLessThan((done?.bytes_before ?? 0) / 2);
  // What is kept is there, and what was erased is not.
  const found = await trips.get({ row_key: rows[0] ?? '', column_name: 'BASE', ref_key: 1 });
  expect(found.cell).toMatchObject({ erased: true, body: null });
});

it('goes on behind the last table when it was cut off, and answers the same record meanwhile', async () => {
  const asked = await operations.purge();
  let stop: (() => Promise<void>) | undefined;
  let isCut = false;
  stop = purging(({ tables }) => {
    if (tables < 2 || isCut) return;
    isCut = true;
    working?.abort();
  });
  expect(await comes(() => isCut, PATIENCE)).toBe(true);
  await stop();
  expect((await state())?.state).toBe('purging');
  expect((await operations.purge()).requested_at).toBe(asked.requested_at);
  const first = [...rebuilt];
  rebuilt.length = 0;
  stop = purging();
  expect(await comes(isPurged, PATIENCE)).toBe(true);
  await stop();
  expect(first.length).toBeGreaterThanOrEqual(2);
  expect(rebuilt.filter((sql) => first.slice(0, 2).includes(sql) && !sql.includes('`schemaless`'))).toEqual([]);
  expect(new Set(ofDatastore([...first, ...rebuilt])).size).toBe(SHARDS);
});

it('does what it can while a group is away, says what it waits for, and finishes when it is back', async () => {
  refused = store.groups[0]?.name;
  await operations.purge();
  const stop = purging();
  expect(await comes(async () => (await state())?.waits_for?.startsWith(`${refused}: `) === true, PATIENCE)).toBe(true);
  expect((await state())?.state).toBe('purging');
  expect(rebuilt.length).toBeGreaterThan(0);
  refused = undefined;
  expect(await comes(isPurged, PATIENCE)).toBe(true);
  await stop();
  expect((await readPurge(eraser.stateTable, name))?.purge.waits_for).toBeNull();
});

it('notices that a server went on with a table for which nobody waited', async () => {
  givesUp = true;
  await operations.purge();
  const stop = purging();
  expect(await comes(isPurged, PATIENCE)).toBe(true);
  await stop();
  expect(givesUp).toBe(false);
  const done = ofDatastore(rebuilt);
  // When it was written anew servers say by seconds: one that was within the same is done once more.
  expect(done.length).toBeLessThanOrEqual(SHARDS + 1);
  expect(new Set(done).size).toBe(SHARDS);
});

// Over the RDS Data API there is no session that could wait for less long than the server does.
it.skipIf(inject('servers').access === 'data-api')(
  'leaves a table that others are long at for later, lets them be, and does the rest',
  async () => {
    const group = (await store.topology.datastore(name))?.homes[0]?.group;
    const table = `${shardDatabase(name, 0)}.entity`;
    const holder = await connectionTo(group);
    await holder.query(`BEGIN`);
    await holder.query(`SELECT COUNT(*) FROM ${table}`);
    const asked = await operations.purge();
    const stop = purging();
    const waits = async (): Promise<boolean> => (await state())?.waits_for?.includes(table) === true;
    expect(await comes(waits, { ...PATIENCE, patienceMs: 15_000 })).toBe(true);
    const waiting = await state();
    expect(waiting).toMatchObject({ state: 'purging', requested_at: asked.requested_at });
    expect(waiting?.tables).toBe((waiting?.of ?? 0) - 1);
    expect(new Set(ofDatastore(rebuilt)).size).toBe(SHARDS);
    // It comes ever more seldom.
    rebuilt.length = 0;
    await sleep(6000);
    expect(rebuilt.length).toBeLessThanOrEqual(3);
    await holder.query('COMMIT');
    await holder.end();
    expect(await comes(isPurged, PATIENCE)).toBe(true);
    await stop();
    expect(await state()).toMatchObject({ waits_for: null });
  },
  60_000,
);

it('is written by who has the lease alone', async () => {
  await operations.purge();
  const state = await readPurge(eraser.stateTable, name);
  if (!state) throw new Error('nobody asked for it');
  expect(await writePurge(eraser.stateTable, name, 2, state)).toBe(true);
  expect(await writePurge(eraser.stateTable, name, 1, state)).toBe(false);
});
