import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { drainAtOnce, drainPass } from '../../support/drain-pass.ts';
import { progressItems, type ProgressStore } from '../../../shared/drain/progress-item.ts';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { readState } from '../../../shared/dynamo/state-table.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { sharedTable } from '../../support/shared-table.ts';
import { until } from '../../support/until.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

const SHARDS = 6;
const WAITING = 400;
/** Polls 200 rows a second, so that a run handles half of those that wait. */
const SLOW = { minimumAgeSeconds: 0, pageRows: 50, appendsPerSecond: 50 };
const RUN_MS = 600;

let readersLag = false;

const lagging = (client: SqlClient): SqlClient => ({
  ...client,
  async select(statement, target) {
    const rows = await client.select(statement, target);
    const isReader =
      typeof target === 'object' && !rows.some(([item, writable]) => Number(item) < 0 && writable !== null);
    return readersLag && isReader ? rows.filter(([item]) => Number(item) < 0) : rows;
  },
});

const { store, trips, name, hintHolder, holder, groupOf, rowIn } = await sharedTrips(SHARDS, { wrap: lagging });
const state = await sharedTable();

async function buffer(rowKeys: readonly string[]): Promise<void> {
  const copies = rowKeys.map((row_key) => copyOf(cellOf({ row_key })));
  await holder.change(insertBuffered(name, copies));
}

async function run(progress: ProgressStore | undefined): Promise<void> {
  await runDrain({
    context: store.context,
    leases: leases(state, randomUUID(), LEASE_MS),
    deadline: Date.now() + RUN_MS, // Clock: on a slow machine a run comes less far
    // Other test files keep copies on the same servers.
    settings: { ...SLOW, keepCopiesSeconds: 3600 },
    report: () => undefined,
    ...(progress ? { progress } : {}),
  });
}

const isThere = async (row_key = '') => (await trips.get({ ...cellOf({ row_key }) })).cell !== null;

describe('one run of the drain after the other', () => {
  it.skipIf(WRITER_ONLY)(
    'comes to the rows behind those that wait for a reader that is down, though none comes through all of them',
    async () => {
      const [behind = '', ...waiting] = rowsOfShard(0, SHARDS, WAITING + 1);
      readersLag = true;
      await buffer(waiting);
      await drainAtOnce(store.context, hintHolder);
      expect(await isThere(waiting.at(-1))).toBe(true);
      await buffer([behind]);

      for (let runs = 0; runs < 2; runs += 1) await run(undefined);
      expect(await isThere(behind), 'a run that begins at the first rows never comes to the last').toBe(false);
      await expect
        .poll(async () => {
          await run(progressItems(state));
          return isThere(behind);
        })
        .toBe(true);
      readersLag = false;
    },
  );

  it('asks for no more of one shard than a list may have, however large its pages', async () => {
    const waiting = rowsOfShard(0, SHARDS, 350);
    await buffer(waiting);
    await drainPass(store.context, hintHolder, () => true, {
      minimumAgeSeconds: 0,
      appendsPerSecond: 1_000_000,
      pageRows: 1000,
    });
    expect(await Promise.all([waiting[0], waiting[320], waiting.at(-1)].map(isThere))).toEqual([true, true, true]);
  });

  it('is not written over by one that lost its lease', async () => {
    const items = progressItems(state);
    await items.write('group-9', { token: 2 }, { arrivals: [[5, 10]], places: { 'trips/1': 7 } });
    await items.write('group-9', { token: 1 }, { arrivals: [], places: {} });
    expect(await items.read('group-9')).toEqual({ arrivals: [[5, 10]], places: { 'trips/1': 7 } });
    expect(await items.read('group-8')).toBeUndefined();
  });

  it('saves how far it came in a group with more waiting shards than an item can list', async () => {
    const items = progressItems(state);
    const places = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, at) => [`a_datastore_of_many_${at >> 12}/${at % 4096}`, 1e12 + at * 7919]),
    );
    await items.write('group-many', { token: 1 }, { arrivals: [[5, 10]], places });
    const read = await items.read('group-many');
    expect(read?.arrivals).toEqual([[5, 10]]);
    expect(Object.keys(read?.places ?? {}).length).toBeGreaterThan(30_000);
    expect(places).toMatchObject(read?.places ?? {});
  });
});

it('runs of two slots take each group from one run that had all, and drain only their own', async () => {
  const groups = store.groups.map((group) => group.name).toSorted();
  const ending = new AbortController();
  const start = (owner: string, slot?: { readonly slot: number; readonly of: number }) => {
    const seen = new Set<string>();
    const ended = runDrain({
      ...slot,
      context: store.context,
      leases: leases(state, owner, LEASE_MS),
      deadline: Date.now() + 3_600_000, // Clock: never comes
      renewMs: 50,
      takeEveryMs: 50,
      signal: ending.signal,
      settings: { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000, keepCopiesSeconds: 3600 },
      report: (group) => void seen.add(group),
    });
    return { seen, ended };
  };
  const areHeldBy = (...owners: readonly string[]) =>
    until(`held by ${owners}`, async () => {
      const items = await Promise.all(groups.map((group) => readState(state, `lease#drain/${group}`)));
      return items.every((item, position) => item?.['owner']?.S === owners[position % owners.length]);
    });

  const alone = start('alone');
  await areHeldBy('alone');
  const slots = ['even', 'odd'].map((owner, slot) => start(owner, { slot, of: 2 }));
  await alone.ended;
  await areHeldBy('even', 'odd');
  const rows = await Promise.all(
    groups.map(async (group) => {
      const shard = groupOf(0) === group ? SHARDS - 1 : 0;
      const row_key = rowIn(shard);
      await store.client(group).change(insertBuffered(name, [copyOf(cellOf({ row_key }), shard)]));
      return row_key;
    }),
  );
  await until('all are drained', async () => (await Promise.all(rows.map(isThere))).every(Boolean));
  ending.abort();
  await Promise.all(slots.map(({ ended }) => ended));
  const own = Map.groupBy(groups, (_, position) => position % 2);
  expect(slots.map(({ seen }) => [...seen].toSorted())).toEqual([own.get(0), own.get(1)]);
});
