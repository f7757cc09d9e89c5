import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { runPurges, type PurgeSettings } from '../../../shared/erasures/purge/run-purges.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { filesIn, kindOf, piecesOf, type FileKind } from '../../support/files/bytes-on-disk.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { comes } from '../../support/until.ts';
import { openEraser, type Eraser } from './support.ts';

// Servers write more than their redo logs hold, beside others that use them.
vi.setConfig({ testTimeout: 300_000 });

const CELLS = 600;
let store: RealStore;
let trips: Datastore;
let eraser: Eraser;
let client: SqlClient;
let group: string;
/** By group: how often the table that makes logs grow was written anew. */
const rewritten = new Map<string, number>();

beforeAll(async () => {
  store = await openRealStore({
    datastores: { over: 1 },
    wrap: (one, name) => ({
      ...one,
      change(statement) {
        if (statement.sql.startsWith('UPDATE `schemaless`.filler')) rewritten.set(name, (rewritten.get(name) ?? 0) + 1);
        return one.change(statement);
      },
    }),
  });
  trips = await store.deployment.datastore(store.nameOf('over'));
  eraser = await openEraser(store, 'over');
  group = (await store.topology.datastore(store.nameOf('over')))?.homes[0]?.group ?? '';
  client = store.client(group);
});
afterAll(async () => {
  await eraser[Symbol.asyncDispose]();
  await store.close();
});

/** Bodies that lie in the files of a group's servers, by what kind of file it is, but for logs that are kept. */
async function foundOnDisk(mark: string): Promise<Partial<Record<FileKind, number>>> {
  const found: Partial<Record<FileKind, number>> = {};
  for (let node = 0; node < client.nodes; node += 1) {
    const [[folder] = []] = await client.select({ sql: 'SELECT @@datadir', parameters: [] }, { node });
    for (const file of filesIn(toText(folder ?? null))) {
      const kind = kindOf(file);
      if (kind === 'binary logs') continue;
      for await (const bytes of piecesOf(file))
        for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1))
          found[kind] = (found[kind] ?? 0) + 1;
    }
  }
  return found;
}

/** Goes on with purges. Returns what ends that. */
function purging(settings: PurgeSettings): () => Promise<void> {
  const ending = new AbortController();
  const { context } = store;
  const running = runPurges({ context, stateTable: eraser.stateTable, token: 1, settings, signal: ending.signal });
  return async () => {
    ending.abort();
    await running;
  };
}

/** Writes a row, erases it, and has the datastore purged. */
async function eraseAndPurge(mark: string, writesOver: boolean): Promise<string | null> {
  const row_key = randomUUID();
  const bodyOf = (ref_key: number) => ({ mark: `${mark}${ref_key}` });
  expect(Buffer.from(encodeBody(bodyOf(1))).includes(mark)).toBe(true);
  const cells = Array.from({ length: CELLS }, (_, ref_key) => ({
    row_key,
    column_name: 'BASE',
    ref_key,
    body: bodyOf(ref_key),
  }));
  for (let from = 0; from < CELLS; from += 100)
    for (const { outcome } of await trips.batchPut(cells.slice(from, from + 100))) expect(outcome).toBe('stored');
  await eraser.operations.erase({ row_key, reason: 'a test' });
  await eraser.retention.purge();
  const stop = purging({ lookMs: 100, rest: 0, writesOver });
  const isPurged = async (): Promise<boolean> => (await eraser.retention.retention()).purge?.state === 'purged';
  expect(await comes(isPurged, { patienceMs: 200_000, pollMs: 200 })).toBe(true);
  await stop();
  return (await eraser.retention.retention()).purge?.logs_left ?? null;
}

it('after a purge no file of a server has what was erased, but for binary logs', async () => {
  const mark = `over${randomUUID()}-`;
  expect(await eraseAndPurge(mark, true)).toBeNull();
  // Replicas follow.
  expect(
    await comes(async () => Object.keys(await foundOnDisk(mark)).length === 0, { patienceMs: 20_000, pollMs: 500 }),
  ).toBe(true);
  expect(await foundOnDisk(mark)).toEqual({});
  const left = await client.select({ sql: "SHOW TABLES IN schemaless LIKE 'filler'", parameters: [] }, 'writer');
  expect(left).toEqual([]);
});

it('without writing over them their logs have it, and the record says so', async () => {
  const mark = `left${randomUUID()}-`;
  expect(await eraseAndPurge(mark, false)).not.toBeNull();
  expect(Object.keys(await foundOnDisk(mark))).not.toEqual([]);
});

// MariaDB's servers are not asked for their undo logs.
it.skipIf(inject('servers').engine.kind !== 'mysql')(
  'beside an open snapshot, for which undo logs are kept, few statements make them grow, and who goes on waits, too',
  async () => {
    const snapshot = await connectionTo(group);
    onTestFinished(() => snapshot.end());
    await snapshot.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await eraser.retention.purge();
    rewritten.clear();
    const stop = purging({ lookMs: 60_000, rest: 0 });
    const isWaiting = async (): Promise<boolean> =>
      (await eraser.retention.retention()).purge?.waits_for?.includes(`${group}: undo logs are not cut yet`) === true;
    expect(await comes(isWaiting, { patienceMs: 200_000, pollMs: 200 })).toBe(true);
    await stop();
    const [most, before] = [16, rewritten.get(group) ?? 0];
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThanOrEqual(most);
    // Another one, as takes over each minute.
    const stopNext = purging({ lookMs: 60_000, rest: 0 });
    await sleep(3000);
    await stopNext();
    expect(rewritten.get(group)).toBe(before);
  },
);
