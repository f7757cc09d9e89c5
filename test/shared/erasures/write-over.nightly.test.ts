import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import { runPurges } from '../../../shared/erasures/purge/run-purges.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import { filesIn, kindOf, piecesOf } from '../../support/files/bytes-on-disk.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { select } from '../../support/plain-sql.ts';
import { until } from '../../support/until.ts';
import { openEraser } from './support.ts';

// Servers write more than their redo logs hold, beside others that use them.
const TIMEOUT_MS = 300_000;
const CELLS = 600;
const { store, trips, clientOf } = await sharedTrips(1);
const client = clientOf(0);
const eraser = await openEraser(store, 'trips');
afterAll(() => eraser[Symbol.asyncDispose]());

/** Kinds of files of a group's servers in which a text stands, but for binary logs. */
async function kindsWith(mark: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let node = 0; node < client.nodes; node += 1) {
    const [[folder = null] = []] = await client.select({ sql: 'SELECT @@datadir', parameters: [] }, { node });
    for (const file of filesIn(toText(folder)).filter((one) => kindOf(one) !== 'binary logs'))
      for await (const bytes of piecesOf(file)) if (bytes.includes(mark)) found.add(kindOf(file));
  }
  return found;
}

/** Writes a row, erases it, and has the datastore purged. Returns what is left in logs. */
async function eraseAndPurge(mark: string, writesOver: boolean): Promise<string | null> {
  const row_key = randomUUID();
  expect(Buffer.from(encodeBody({ mark: `${mark}1` })).includes(mark)).toBe(true);
  for (let from = 0; from < CELLS; from += 100) {
    const cells = Array.from({ length: 100 }, (_, at) => from + at).map((ref_key) => ({
      row_key,
      column_name: 'BASE',
      ref_key,
      body: { mark: `${mark}${ref_key}` },
    }));
    for (const { outcome } of await trips.batchPut(cells)) expect(outcome).toBe('stored');
  }
  await eraser.operations.erase({ row_key, reason: 'a test' });
  await eraser.retention.purge();
  const ending = new AbortController();
  const settings = { lookMs: 100, rest: 0, writesOver };
  const { context } = store;
  const running = runPurges({ context, stateTable: eraser.stateTable, token: 1, settings, signal: ending.signal });
  const state = async () => (await eraser.retention.retention()).purge;
  await until('it is purged', async () => (await state())?.state === 'purged', { patienceMs: TIMEOUT_MS });
  ending.abort();
  await running;
  return (await state())?.logs_left ?? null;
}

it(
  'after a purge no file of a server has what was erased, but for binary logs',
  async () => {
    const mark = `over${randomUUID()}-`;
    expect(await eraseAndPurge(mark, true)).toBeNull();
    await until('replicas follow', async () => (await kindsWith(mark)).size === 0);
    expect(await select(client, "SHOW TABLES IN schemaless LIKE 'filler'")).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'without writing over them their logs have it, and the record says so',
  async () => {
    const mark = `left${randomUUID()}-`;
    expect(await eraseAndPurge(mark, false)).not.toBeNull();
    expect((await kindsWith(mark)).size).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
