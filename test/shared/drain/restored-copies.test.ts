import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { openHintDrain } from '../../../shared/drain/hint-drain.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { answerBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import { copyOf } from '../../support/copy-of.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { faults } from '../../support/faulty-client.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { until } from '../../support/until.ts';
import { buffer, promote, restored } from './support/promotion.ts';

const SHARDS = 6;
const broken = faults();
const opened = await sharedTrips(SHARDS, { wrap: broken.wrap });
const { store, trips, name, primary, others, clientOf, cellIn, logOf } = opened;
afterEach(() => broken.behaviours.clear());

const KEPT = { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000, keepCopiesSeconds: 3600 };

async function drain(settings: Parameters<typeof drainPass>[3] = KEPT): Promise<void> {
  for (const hintHolder of others)
    await until('every copy is drained', async () => {
      await drainPass(store.context, hintHolder, () => true, settings);
      const [[count] = []] = await select(
        store.client(hintHolder),
        "SELECT COUNT(*) FROM schemaless.buffer WHERE state = 'waiting' AND datastore = ?",
        name,
      );
      return Number(count) === 0;
    });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const recover = () => recoverPrimary(store.context, primary, { topologyTable: store.topologyTable });
const cellNow = async (cell: NewCell) => (await trips.get(cell)).cell;

async function keptIn(hintHolder: string): Promise<number> {
  const [[count] = []] = await select(
    store.client(hintHolder),
    'SELECT COUNT(*) FROM schemaless.drained WHERE datastore = ?',
    name,
  );
  return Number(count);
}

describe('a group that was restored to a point in time', () => {
  it('gets back what was drained since, in its order and with its times, before it takes other cells', async () => {
    const before = cellIn(0, { body: 'before' });
    await trips.put(before);
    const lost = Array.from({ length: 30 }, (_, number) => cellIn(0, { body: { number } }));
    for (const cell of lost) {
      expect((await trips.put(cell)).outcome).toBe('stored');
      // Clock: far enough apart to tell their order by their times
      await sleep(5);
    }
    await drain();
    const copies = await Promise.all(others.map(keptIn));
    expect(copies.every((count) => count > 0)).toBe(true);
    const stored = await Promise.all(lost.map(cellNow));
    await restored(opened, lost);
    const [taken = before] = lost;
    expect((await trips.put({ ...taken, body: 'another' })).outcome).toBe('buffered');

    expect(await recover()).toEqual({ appended: 30, opened: 2, closed: [] });
    for (const [position, cell] of lost.entries()) {
      const is = await cellNow(cell);
      expect(is?.body).toEqual(cell.body);
      expect(String(is?.created_at) <= String(stored.at(-1)?.created_at), `cell ${position}`).toBe(true);
    }
    const log = await logOf(0);
    // Though they lay on two groups.
    const places = lost.map(({ row_key }) => log.find((cell) => cell.row_key === row_key)?.added_id ?? 0);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(log.map(({ added_id }) => added_id)).toEqual(log.map((_, position) => position + 1));
    expect((await trips.put({ ...taken, body: 'another' })).outcome).toBe('conflict');
    await drain();
    expect(await cellNow(taken)).toMatchObject({ body: taken.body });
    expect(await recover()).toBeUndefined();
    // The record names this server: these nodes share no storage, so another server must be checked again.
    const recorded = 'SELECT DISTINCT writer_id = @@server_id FROM schemaless.shard WHERE datastore = ?';
    expect((await select(clientOf(0), recorded, name)).map(([is]) => Number(is))).toEqual([1]);
  });

  it('lacks them where none were kept: then only what was never drained comes back', async () => {
    const lost = cellIn(0, { body: 'drained' });
    await trips.put(lost);
    await drain({ ...KEPT, keepCopiesSeconds: 0 });
    const waiting = cellIn(0, { body: 'waiting' });
    await trips.put(waiting);
    await restored(opened, [lost, waiting]);
    expect(await recover()).toMatchObject({ appended: 1, opened: 2 });
    expect(await cellNow(lost)).toBeNull();
    expect(await cellNow(waiting)).toMatchObject({ body: 'waiting' });
  });

  it('gets the body that was stored, whatever other bodies may have been acknowledged at its address', async () => {
    const cell = cellIn(0, { body: 'stored' });
    await trips.put(cell);
    await drain();
    // As of writers that died before they were told that another body is there.
    const [hintHolder = ''] = others;
    await buffer(opened, hintHolder, { ...cell, body: 'other' }, { ...cell, body: 'a third' });
    await restored(opened, [cell]);
    expect(await recover()).toMatchObject({ appended: 1, opened: 2, closed: [] });
    expect(await cellNow(cell)).toMatchObject({ body: 'stored' });
  });

  it.each([
    ['drained before the restore', true],
    ['stored since, though no drain has seen it on every node yet', false],
  ])('gets what was answered buffered, and %s', async (_what, isDrained) => {
    const cell = cellIn(0, { body: 'buffered at first' });
    const [hintHolder = ''] = others;
    const copy = copyOf(cell);
    await store.client(hintHolder).change(insertBuffered(name, [copy]));
    await store.client(hintHolder).change(answerBuffered(name, [copy]));
    if (isDrained) await drain();
    await restored(opened, isDrained ? [cell] : []);
    expect(await recover()).toMatchObject({ appended: 1, opened: 2 });
    expect(await cellNow(cell)).toMatchObject({ body: 'buffered at first' });
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('conflict');
  });

  it('stays closed, and says so, where its epoch cannot be raised; no drain ends for it', async () => {
    await restored(opened);
    const failing = { ...store.topologyTable, table: 'none' };
    const { opened: none, closed = [] } =
      (await recoverPrimary(store.context, primary, { topologyTable: failing })) ?? {};
    expect(none).toBe(0);
    expect(closed.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('its epoch cannot be raised'),
      expect.stringContaining('its epoch cannot be raised'),
    ]);
    expect(await recover()).toMatchObject({ opened: 2 });
  });

  it('raises the epochs of its shards, so that every index is compared, also where no cell was lost', async () => {
    const epochs = async () => (await readDatastore(store.topologyTable, name))?.homes.map(({ epoch }) => epoch) ?? [];
    const before = await epochs();
    await restored(opened);
    await recover();
    const raised = (await epochs()).map((epoch, shard) => epoch - (before[shard] ?? 0));
    expect(raised).toEqual(Array.from({ length: SHARDS }, (_, shard) => (opened.groupOf(shard) === primary ? 1 : 0)));
    await expect.poll(async () => (await trips.put(cellIn(0))).outcome).toBe('stored');
  });
});

// Over the Data API no body is large.
it.skipIf(WRITER_ONLY)('large bodies are brought back by their bytes, a few at a time', async () => {
  let largest = 0;
  const measure = (client: SqlClient): SqlClient => ({
    ...client,
    async change(statement) {
      const sizes = statement.parameters.map((value) => (value instanceof Uint8Array ? value.length : 0));
      if (statement.sql.startsWith('INSERT INTO `')) largest = Math.max(largest, sum(sizes));
      return client.change(statement);
    },
  });
  await using large = await openTrips(3, { wrap: measure });
  const cells = Array.from({ length: 16 }, () => large.cellIn(0, { body: randomBytes(720_000).toString('base64') }));
  for (const cell of cells) await large.trips.put(cell);
  await change(large.clientOf(0), `DELETE FROM ${large.entity(0)}`);
  await promote(large);
  largest = 0;
  expect(await recoverPrimary(large.store.context, large.primary)).toMatchObject({ appended: 16, opened: 1 });
  expect(largest).toBeLessThan(5 * 1024 * 1024);
  expect(largest).toBeGreaterThan(2 * 1024 * 1024);
});

describe('copies that were drained', () => {
  it('are not searched after a promotion: all nodes had shown them', async () => {
    const cell = cellIn(0, { body: 'shown by all' });
    await trips.put(cell);
    await drain();
    await promote(opened, [cell]);
    expect(await recover()).toMatchObject({ appended: 0, opened: 2 });
  });

  it('are kept for as long as the settings say, in which the time while a group lacks cells does not count', async () => {
    const [hintHolder = ''] = others;
    await trips.batchPut(Array.from({ length: 12 }, () => cellIn(0)));
    await drain();
    const kept = await keptIn(hintHolder);
    expect(kept).toBeGreaterThan(0);
    vi.useFakeTimers({ toFake: ['performance'] });
    const forgetful = await openHintDrain(store.context, hintHolder, { ...KEPT, keepCopiesSeconds: 2 });
    await forgetful.forgetDrained();
    await restored(opened);
    await forgetful.forgetDrained();
    vi.advanceTimersByTime(2200);
    broken.behaviours.set(primary, 'down');
    await forgetful.forgetDrained();
    broken.behaviours.clear();
    await recover();
    // It is back after longer than they are kept, and no cell was restored before.
    await forgetful.forgetDrained();
    await forgetful.forgetDrained();
    expect(await keptIn(hintHolder)).toBe(kept);
    vi.advanceTimersByTime(2200);
    await forgetful.forgetDrained();
    expect(await keptIn(hintHolder)).toBe(0);
    vi.useRealTimers();
  });
});
