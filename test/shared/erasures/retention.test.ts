import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { LIMITS, type Cell } from '../../../shared/cell.ts';
import type { IndexDefinition, RetentionRule } from '../../../shared/definitions/definitions.ts';
import { listRetained } from '../../../shared/erasures/retention/retained.ts';
import { readOffsets } from '../../../shared/erasures/retention/retention-offset.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { until } from '../../support/until.ts';
import { AT_ONCE, openEraser, retained, SPARING, upTo } from './support.ts';

const SHARD = 0;
const KEPT = 10;
const HOUR_MS = 3_600_000;
const RULES: readonly RetentionRule[] = [
  { column: 'STATUS', keepVersions: KEPT },
  { column: 'PLACE', keepForMs: HOUR_MS },
  { column: 'BOTH', keepVersions: 3, keepForMs: HOUR_MS },
];
const BY_CITY: IndexDefinition = {
  name: 'by_city',
  fields: [{ field: 'city', type: 'string', column_key: 'PLACE' }],
  keys: [],
};

const opened = await sharedTrips(1, { indexes: [BY_CITY], retention: { trips: RULES } });
const { store, trips, name } = opened;
const { ruled, write, bodiesOf, left, age } = retained(opened);
const eraser = await openEraser(store, 'trips');
afterEach(async () => {
  await eraser.end();
  await ruled(RULES);
});

const shown = (cells: readonly Cell[]): string[] =>
  cells.map(({ ref_key, body, erased }) => `${ref_key}${erased === true ? ' hidden' : body === null ? ' null' : ''}`);

async function versionsOf(row_key: string, column_name: string): Promise<string[]> {
  return shown((await trips.versions({ row_key, column_name }, { order: 'asc', limit: 1000 })).cells);
}

async function logged(row_key: string): Promise<readonly Cell[]> {
  const [log] = await trips.log([{ shard: SHARD, after: 0 }], { limit: LIMITS.logCells });
  return (log && !log.error ? log.cells : []).filter((cell) => cell.row_key === row_key);
}

describe('cells out of their retention', () => {
  it('read as erased ones at once, whichever way they are read, and the rest as before', async () => {
    const row_key = randomUUID();
    const status = { row_key, column_name: 'STATUS' };
    await write(row_key, 'STATUS', upTo(15));
    await write(row_key, 'KEPT', upTo(15));
    const hidden = await trips.get({ ...status, ref_key: 5 });
    expect(hidden).toMatchObject({
      cell: { body: null, erased: true, body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u) as string },
      why: 'retention',
      rule: { column: 'STATUS', keep_versions: KEPT },
    });
    expect(hidden.erasure).toBeUndefined();
    expect((await trips.get({ ...status, ref_key: 6 })).cell?.body).toMatchObject({ ref_key: 6 });
    expect((await trips.getLatest(status)).cell?.ref_key).toBe(15);
    expect(await versionsOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5).map(String));
    expect(await versionsOf(row_key, 'KEPT')).toEqual(upTo(15).map(String));
    expect(shown((await trips.row(row_key)).cells)).toEqual(['15', '15']);
    const keys = [5, 6].map((ref_key) => ({ ...status, ref_key }));
    const bodies = (await trips.batchGet(keys)).map((item) => item && 'body' in item && item.body !== null);
    expect(bodies).toEqual([false, true]);
    expect(await lookedUp(trips, keys)).toEqual(await Promise.all(keys.map((key) => trips.get(key))));
    const inLog = await logged(row_key);
    const wanted = [...upTo(5).map((ref) => `${ref} hidden`), ...upTo(15).slice(5).map(String)];
    expect(shown(inLog.filter(({ column_name }) => column_name === 'STATUS'))).toEqual(wanted);
    expect(shown(inLog.filter(({ column_name }) => column_name === 'KEPT'))).toEqual(upTo(15).map(String));
  });

  it('are those that either bound drops', async () => {
    const row_key = randomUUID();
    await write(row_key, 'BOTH', upTo(5));
    expect(await versionsOf(row_key, 'BOTH')).toEqual(['3', '4', '5']);
    await age(2);
    expect(await versionsOf(row_key, 'BOTH')).toEqual([]);
    expect((await trips.row(row_key)).cells).toEqual([]);
    expect((await trips.getLatest({ row_key, column_name: 'BOTH' })).why).toBe('retention');
  });

  it('are of every column that has no rule of its own, where * says so', async () => {
    const row_key = randomUUID();
    await ruled([
      { column: 'STATUS', keepVersions: 4 },
      { column: '*', keepVersions: 2 },
    ]);
    await write(row_key, 'STATUS', upTo(5));
    await write(row_key, 'OTHER', upTo(5));
    expect(await versionsOf(row_key, 'STATUS')).toEqual(['2', '3', '4', '5']);
    expect(await versionsOf(row_key, 'OTHER')).toEqual(['4', '5']);
    const others = (await logged(row_key)).filter(({ column_name }) => column_name === 'OTHER');
    expect(shown(others)).toEqual(['1 hidden', '2 hidden', '3 hidden', '4', '5']);
  });

  it('come back where the rule is loosened before they are erased', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(12));
    expect((await versionsOf(row_key, 'STATUS'))[0]).toBe('3');
    await ruled([{ column: 'STATUS', keepVersions: 12 }]);
    expect((await versionsOf(row_key, 'STATUS'))[0]).toBe('1');
  });

  it('are written as others are, and a repeated write is one that was stored before', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(12).slice(1));
    await write(row_key, 'STATUS', [1]);
    const cell = { row_key, column_name: 'STATUS', ref_key: 1, body: { city: `of ${row_key}`, ref_key: 1 } };
    expect(await trips.batchPut([cell])).toMatchObject([{ outcome: 'stored_before' }]);
    expect((await versionsOf(row_key, 'STATUS'))[0]).toBe('3');
  });
});

it.each([
  ['show no more than is kept', RULES, KEPT],
  ['show more where nothing says how much is kept: the control', undefined, 40],
])('rows that are written and erased at the same time %s', async (_what, rules, bodies) => {
  await ruled(rules);
  eraser.start(AT_ONCE);
  const rows = Array.from({ length: 6 }, () => ({ row_key: randomUUID(), column_name: 'STATUS' }));
  const seen = { reads: 0, beyond: 0 };
  let acked = 0;
  const read = async (): Promise<void> => {
    for (const row of rows) {
      // Versions acknowledged before this read hide this one; newer ones may hide more.
      const key = { ...row, ref_key: acked - KEPT };
      if (key.ref_key < 1) continue;
      const { cells } = await trips.versions(row, { limit: 1000 });
      const [item] = await trips.batchGet([key]);
      const one = (await trips.get(key)).cell?.body;
      seen.reads += 3;
      seen.beyond += Number(cells.filter(({ body }) => body !== null).length > KEPT) + Number(one !== null);
      seen.beyond += Number(!item || !('body' in item) || item.body !== null);
    }
  };
  for (let version = 1; version <= 40; version += 1) {
    await Promise.all([
      ...rows.map(({ row_key }) => write(row_key, 'STATUS', [version])),
      ...(acked > KEPT ? [read()] : []),
    ]);
    acked = version;
  }
  expect(seen.reads).toBeGreaterThan(100);
  expect(seen.beyond > 0).toBe(rules === undefined);
  for (const { row_key } of rows) await left(row_key, 'STATUS', bodies);
});

describe('erasing what is out of its retention', () => {
  it('takes the bodies, with one erasure for a column of a row, leaves the rest, and is shown', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(15));
    eraser.start(AT_ONCE);
    await left(row_key, 'STATUS', KEPT);
    expect(await bodiesOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5));
    await until('it is found erased', async () => {
      const found = await trips.get({ row_key, column_name: 'STATUS', ref_key: 5 });
      return found.erasure !== undefined;
    });
    expect(await trips.get({ row_key, column_name: 'STATUS', ref_key: 5 })).toMatchObject({
      why: 'retention',
      rule: { column: 'STATUS', keep_versions: KEPT },
      erasure: { scope: 'versions', why: 'retention', reason: 'retention: the last 10 versions are kept' },
    });
    expect(await versionsOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5).map(String));
    expect((await logged(row_key)).filter(({ erasure }) => erasure).map(({ ref_key }) => ref_key)).toEqual([5]);
    await write(row_key, 'STATUS', [16]);
    await until('the next one is erased', async () => (await bodiesOf(row_key, 'STATUS'))[0] === 7);
    const late = { row_key, column_name: 'STATUS', ref_key: 2, body: 'late' };
    expect(await trips.batchPut([late])).toMatchObject([{ outcome: 'erased' }]);
    await eraser.roundAfter();
    const [status] = (await listRetained(eraser.stateTable, name)).filter(({ column }) => column === 'STATUS');
    expect(status?.days.at(-1)?.cells).toBeGreaterThanOrEqual(6);
    expect(await eraser.operations.getRetention()).toMatchObject({
      rules: RULES.map(({ column }) => ({ column })),
      columns: expect.arrayContaining([status]) as unknown,
    });
  });

  it('notes how far it has come, shard by shard', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(11));
    eraser.start(AT_ONCE);
    await left(row_key, 'STATUS', KEPT);
    const place = async () => (await readOffsets(eraser.stateTable, name, 1)).get(SHARD);
    await until('its place is written', async () => ((await place())?.all.added_id ?? 0) > 10);
    await expect.poll(async () => (await place())?.open).toEqual([]);
  });

  it('waits with few of a column for a round that checks everything, and does not wait with many', async () => {
    const [few, many, begun] = [randomUUID(), randomUUID(), randomUUID()];
    await ruled([{ column: 'STATUS', keepVersions: KEPT }]);
    await write(begun, 'STATUS', upTo(11));
    const stop = eraser.start(SPARING);
    // The first round under these rules checks everything: it is over once this is done.
    await left(begun, 'STATUS', KEPT);
    await eraser.roundAfter();
    await write(few, 'STATUS', upTo(KEPT + 9));
    await write(many, 'STATUS', upTo(KEPT + 10));
    await left(many, 'STATUS', KEPT);
    await eraser.roundAfter();
    expect(await bodiesOf(few, 'STATUS')).toHaveLength(KEPT + 9);
    await stop();
    eraser.start(AT_ONCE);
    await left(few, 'STATUS', KEPT);
  });

  it('takes what is too old, with its index entry, whatever the order of its ref keys', async () => {
    const row_key = randomUUID();
    const entries = async () => (await trips.query({ index: 'by_city', where: { city: `of ${row_key}` } })).entries;
    await write(row_key, 'PLACE', [5, 9]);
    await expect.poll(entries).toHaveLength(1);
    await age(2);
    await write(row_key, 'PLACE', [3, 7]);
    expect(await versionsOf(row_key, 'PLACE')).toEqual(['3', '7']);
    eraser.start(AT_ONCE);
    await left(row_key, 'PLACE', 2);
    expect(await bodiesOf(row_key, 'PLACE')).toEqual([3, 7]);
    await age(2);
    await left(row_key, 'PLACE', 0);
    await expect.poll(entries).toEqual([]);
    // Nothing closes the column for what comes.
    await write(row_key, 'PLACE', [10]);
    await expect.poll(entries).toHaveLength(1);
  });

  it('checks everything again under other rules', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(15));
    eraser.start(AT_ONCE);
    await left(row_key, 'STATUS', KEPT);
    await ruled([{ column: 'STATUS', keepVersions: 3 }]);
    await left(row_key, 'STATUS', 3);
    expect(await bodiesOf(row_key, 'STATUS')).toEqual([13, 14, 15]);
  });
});
