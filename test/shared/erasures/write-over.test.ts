import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { runPurges } from '../../../shared/erasures/purge/run-purges.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
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

beforeAll(async () => {
  store = await openRealStore({ datastores: { over: 1 } });
  trips = await store.deployment.datastore(store.nameOf('over'));
  eraser = await openEraser(store, 'over');
  client = store.client((await store.topology.datastore(store.nameOf('over')))?.homes[0]?.group ?? '');
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
  const ending = new AbortController();
  const running = runPurges({
    context: store.context,
    stateTable: eraser.stateTable,
    token: 1,
    settings: { lookMs: 100, rest: 0, writesOver },
    signal: ending.signal,
  });
  const isPurged = async (): Promise<boolean> => (await eraser.retention.retention()).purge?.state === 'purged';
  expect(await comes(isPurged, { patienceMs: 200_000, pollMs: 200 })).toBe(true);
  ending.abort();
  await running;
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
