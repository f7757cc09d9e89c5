import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, type Cell, type NewCell } from '../../../shared/cell.ts';
import type { HoldRequest } from '../../../shared/contract/retention-operations.ts';
import type { IndexDefinition, RetentionRule } from '../../../shared/definitions/definitions.ts';
import { putHold, requireNotHeld } from '../../../shared/erasures/holds.ts';
import { listRetained } from '../../../shared/erasures/retention/retained-days.ts';
import { readPlaces } from '../../../shared/erasures/retention/retention-place.ts';
import type { StoredDatastore } from '../../../shared/store/deployment.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { eq } from '../../support/index-on.ts';
import { comes } from '../../support/until.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { bodiesIn, openEraser, setRules, upTo, type Eraser } from './support.ts';

const SHARD = 0;
const KEPT = 10;
const RULES: readonly RetentionRule[] = [
  { column: 'STATUS', keepVersions: KEPT },
  { column: 'PLACE', keepForMs: 2000 },
  { column: 'BOTH', keepVersions: 3, keepForMs: 3_600_000 },
];
/** Of the run in the background: a look at everything each time. */
const AT_ONCE = { roundMs: 50, wholeMs: 100, rest: 0 };

const BY_CITY: IndexDefinition = {
  name: 'by_city',
  fields: [{ field: 'city', type: 'string', column_key: 'PLACE' }],
  keys: [],
};

const PATIENCE = { patienceMs: 20_000, pollMs: 30 };

let store: RealStore;
let trips: StoredDatastore;
let name: string;
let eraser: Eraser;

beforeAll(async () => {
  store = await openRealStore({
    datastores: { kept: 1, plain: 1 },
    indexes: { kept: [BY_CITY] },
    retention: { kept: RULES },
  });
  name = store.nameOf('kept');
  trips = await store.deployment.datastore(name);
  eraser = await openEraser(store, 'kept');
});
afterEach(async () => {
  await eraser[Symbol.asyncDispose]();
  if (eraser.failures.length > 0) throw new AggregateError(eraser.failures, 'who goes on stumbled');
  await ruled(RULES);
});
afterAll(() => store.close());

const ruled = (rules: readonly RetentionRule[] | undefined): Promise<void> => setRules(store, name, rules);

async function write(row_key: string, column_name: string, refKeys: readonly number[]): Promise<void> {
  const cells = refKeys.map((ref_key): NewCell => ({
    row_key,
    column_name,
    ref_key,
    body: { city: `of ${row_key}`, ref_key },
  }));
  for (const { outcome } of await trips.batchPut(cells)) expect(outcome).toBe('stored');
}

const shown = (cells: readonly Cell[]): string[] =>
  cells.map(({ ref_key, body, erased }) => `${ref_key}${erased === true ? ' hidden' : body === null ? ' null' : ''}`);

async function versionsOf(row_key: string, column_name: string): Promise<string[]> {
  return shown((await trips.versions({ row_key, column_name }, { order: 'asc', limit: 1000 })).cells);
}

const bodiesOf = (row_key: string, column_name: string): Promise<number[]> =>
  bodiesIn(store, name, { row_key, column_name });

describe('cells out of their retention', () => {
  it('read as erased ones at once, whichever way they are read, and the rest as before', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(15));
    await write(row_key, 'KEPT', upTo(15));

    const hidden = await trips.get({ row_key, column_name: 'STATUS', ref_key: 5 });
    expect(hidden).toMatchObject({
      cell: { body: null, erased: true, body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u) as string },
      why: 'retention',
      rule: { column: 'STATUS', keep_versions: KEPT },
    });
    expect(hidden.erasure).toBeUndefined();
    expect((await trips.get({ row_key, column_name: 'STATUS', ref_key: 6 })).cell?.body).toMatchObject({ ref_key: 6 });
    expect((await trips.getLatest({ row_key, column_name: 'STATUS' })).cell?.ref_key).toBe(15);

    const wanted = [...upTo(5).map((ref) => `${ref} hidden`), ...upTo(15).slice(5).map(String)];
    expect(await versionsOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5).map(String));
    expect(await versionsOf(row_key, 'KEPT')).toEqual(upTo(15).map(String));
    const { cells } = await trips.row(row_key);
    expect(shown(cells)).toEqual(['15', '15']);
    const keys = [5, 6].map((ref_key) => ({ row_key, column_name: 'STATUS', ref_key }));
    expect((await trips.batchGet(keys)).map((item) => item && 'body' in item && item.body !== null)).toEqual([
      false,
      true,
    ]);
    expect(await lookedUp(trips, keys)).toEqual(await Promise.all(keys.map((key) => trips.get(key))));
    const [log] = await trips.log([{ shard: SHARD, after: 0 }], { limit: LIMITS.logCells });
    const logged = (log && !log.error ? log.cells : []).filter((cell) => cell.row_key === row_key);
    expect(shown(logged.filter(({ column_name }) => column_name === 'STATUS'))).toEqual(wanted);
    expect(shown(logged.filter(({ column_name }) => column_name === 'KEPT'))).toEqual(upTo(15).map(String));
  });

  it('are those that either bound drops', async () => {
    const row_key = randomUUID();
    await write(row_key, 'BOTH', upTo(5));
    expect(await versionsOf(row_key, 'BOTH')).toEqual(['3', '4', '5']);
    await ruled([{ column: 'BOTH', keepVersions: 3, keepForMs: 1000 }]);
    await sleep(1100);
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
    const [log] = await trips.log([{ shard: SHARD, after: 0 }], { limit: LIMITS.logCells });
    const logged = (log && !log.error ? log.cells : []).filter((cell) => cell.row_key === row_key);
    expect(shown(logged.filter(({ column_name }) => column_name === 'OTHER'))).toEqual([
      '1 hidden',
      '2 hidden',
      '3 hidden',
      '4',
      '5',
    ]);
  });

  it('come back where the rule is loosened before they are erased', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(12));
    expect((await versionsOf(row_key, 'STATUS')).slice(0, 3)).toEqual(['3', '4', '5']);
    await ruled([{ column: 'STATUS', keepVersions: 12 }]);
    expect((await versionsOf(row_key, 'STATUS')).slice(0, 3)).toEqual(['1', '2', '3']);
  });

  it('are written as others are, and a repeated write is one that was stored before', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(12).slice(1));
    await write(row_key, 'STATUS', [1]);
    const [again] = await trips.batchPut([
      { row_key, column_name: 'STATUS', ref_key: 1, body: { city: `of ${row_key}`, ref_key: 1 } },
    ]);
    expect(again?.outcome).toBe('stored_before');
    expect((await versionsOf(row_key, 'STATUS'))[0]).toBe('3');
  });
});

describe('erasing what is out of its retention', () => {
  it('takes the bodies, with one erasure for a column of a row, and leaves the rest', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(15));
    eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(row_key, 'STATUS')).length === KEPT, PATIENCE);
    expect(await bodiesOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5));
    const found = await trips.get({ row_key, column_name: 'STATUS', ref_key: 5 });
    expect(found).toMatchObject({
      why: 'retention',
      rule: { column: 'STATUS', keep_versions: KEPT },
      erasure: { scope: 'versions', why: 'retention', reason: 'retention: the last 10 versions are kept' },
    });
    expect(await versionsOf(row_key, 'STATUS')).toEqual(upTo(15).slice(5).map(String));
    const [log] = await trips.log([{ shard: SHARD, after: 0 }], { limit: LIMITS.logCells });
    const logged = (log && !log.error ? log.cells : []).filter((cell) => cell.row_key === row_key);
    expect(logged.filter(({ erasure }) => erasure).map(({ ref_key }) => ref_key)).toEqual([5]);
    await write(row_key, 'STATUS', [16]);
    await comes(async () => (await bodiesOf(row_key, 'STATUS'))[0] === 7, PATIENCE);
    const [refused] = await trips.batchPut([{ row_key, column_name: 'STATUS', ref_key: 2, body: 'late' }]);
    expect(refused?.outcome).toBe('erased');
    await comes(async () => {
      const columns = await listRetained(eraser.stateTable, name);
      return (columns.find(({ column }) => column === 'STATUS')?.days[0]?.cells ?? 0) > 0;
    }, PATIENCE);
  });

  it('goes on where another was, shard by shard', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(11));
    const stop = eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(row_key, 'STATUS')).length === KEPT, PATIENCE);
    const isThere = async (): Promise<boolean> => {
      const place = (await readPlaces(eraser.stateTable, name, 1)).get(SHARD);
      return place !== undefined && place.all.added_id > 10 && place.open.length === 0;
    };
    expect(await comes(isThere, PATIENCE)).toBe(true);
    await stop();
  });

  it('waits with few of a column for a look at all, and does not wait with many', async () => {
    const [few, many] = [randomUUID(), randomUUID()];
    await ruled([{ column: 'STATUS', keepVersions: KEPT }]);
    const sparing = { roundMs: 50, wholeMs: 3_600_000, rest: 0 };
    const begun = randomUUID();
    await write(begun, 'STATUS', upTo(11));
    const stop = eraser.start(sparing);
    // The first look under these rules is at all there is: it is over once this is done.
    await comes(async () => (await bodiesOf(begun, 'STATUS')).length === KEPT, PATIENCE);
    await write(few, 'STATUS', upTo(KEPT + 9));
    await write(many, 'STATUS', upTo(KEPT + 10));
    await comes(async () => (await bodiesOf(many, 'STATUS')).length === KEPT, PATIENCE);
    expect(await bodiesOf(few, 'STATUS')).toHaveLength(KEPT + 9);
    await stop();
    eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(few, 'STATUS')).length === KEPT, PATIENCE);
  });

  it('takes what is too old, with its index entry, whatever the order of its ref keys', async () => {
    const row_key = randomUUID();
    const entries = async () => (await trips.query({ index: 'by_city', where: [eq('city', `of ${row_key}`)] })).entries;
    await write(row_key, 'PLACE', [5, 9]);
    expect(await entries()).toHaveLength(1);
    await sleep(2100);
    await write(row_key, 'PLACE', [3, 7]);
    expect(await versionsOf(row_key, 'PLACE')).toEqual(['3', '7']);
    eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(row_key, 'PLACE')).length === 2, PATIENCE);
    expect(await bodiesOf(row_key, 'PLACE')).toEqual([3, 7]);
    await comes(async () => (await bodiesOf(row_key, 'PLACE')).length === 0, PATIENCE);
    expect(await entries()).toEqual([]);
    // Nothing closes the column for what comes.
    await write(row_key, 'PLACE', [10]);
    expect(await entries()).toHaveLength(1);
  });

  it('passes over rows that are held, until they are not', async () => {
    const [held, free] = [randomUUID(), randomUUID()];
    const hold = {
      hold: 'case-1',
      row_key: held,
      subject: null,
      reason: 'a court',
      requested_by: 'tester',
      requested_at: '2026-01-01T00:00:00.000Z',
    };
    await putHold(eraser.stateTable, name, { row_key: held }, hold);
    await write(held, 'STATUS', upTo(12));
    await write(free, 'STATUS', upTo(12));
    eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(free, 'STATUS')).length === KEPT, PATIENCE);
    expect(await bodiesOf(held, 'STATUS')).toHaveLength(12);
    // It is hidden all the same.
    expect((await versionsOf(held, 'STATUS'))[0]).toBe('3');
    await expect(eraser.operations.erase({ row_key: held, reason: 'asked' })).rejects.toMatchObject({ code: 'held' });
    await eraser.retention.releaseHold({ hold: 'case-1', row_key: held });
    await comes(async () => (await bodiesOf(held, 'STATUS')).length === KEPT, PATIENCE);
    expect((await eraser.operations.erase({ row_key: held, reason: 'asked' })).state).toBe('erased');
  });

  it('looks at all again under other rules', async () => {
    const row_key = randomUUID();
    await write(row_key, 'STATUS', upTo(15));
    eraser.start(AT_ONCE);
    await comes(async () => (await bodiesOf(row_key, 'STATUS')).length === KEPT, PATIENCE);
    await ruled([{ column: 'STATUS', keepVersions: 3 }]);
    expect(await comes(async () => (await bodiesOf(row_key, 'STATUS')).length === 3, PATIENCE)).toBe(true);
  });
});

describe('holds', () => {
  it.each([
    [{ hold: '', row_key: randomUUID() }, 'invalid_field', 'hold'],
    [{ hold: 'a b', row_key: randomUUID() }, 'invalid_field', 'hold'],
    [{ row_key: randomUUID() }, 'missing_field', 'hold'],
    [{ hold: 'a' }, 'missing_field', 'row_key'],
    [{ hold: 'a', row_key: 'x' }, 'invalid_field', 'row_key'],
    [{ hold: 'a', row_key: randomUUID(), subject: 'rider' }, 'invalid_field', 'subject'],
    [{ hold: 'a', subject: '' }, 'invalid_field', 'subject'],
    [{ hold: 'a', subject: 'x'.repeat(256) }, 'invalid_field', 'subject'],
  ])('that cannot be are refused: %j', async (wanted, code, field) => {
    const hold = { ...wanted, reason: 'a test' } as HoldRequest;
    await expect(eraser.retention.putHold(hold)).rejects.toMatchObject({ code, field });
    await expect(eraser.retention.releaseHold(hold)).rejects.toMatchObject({ code, field });
  });

  it('are listed, several of a row, and each is released by its name', async () => {
    const row_key = randomUUID();
    await write(row_key, 'KEPT', [1]);
    const first = await eraser.retention.putHold({ hold: 'one', row_key, reason: 'a court' });
    await eraser.retention.putHold({ hold: 'two', row_key, reason: 'another' });
    // Put again, it stays as it was.
    expect(await eraser.retention.putHold({ hold: 'one', row_key, reason: 'changed' })).toEqual(first);
    const { holds } = await eraser.retention.holds({ row_key });
    expect(holds.map(({ hold }) => hold)).toEqual(['one', 'two']);
    expect((await eraser.retention.holds()).holds).toEqual(expect.arrayContaining([...holds]));
    await eraser.retention.releaseHold({ hold: 'one', row_key });
    const refused = { code: 'held', status: 409, details: { more: { hold: 'two' } } };
    await expect(eraser.operations.erase({ row_key, reason: 'asked' })).rejects.toMatchObject(refused);
    await eraser.retention.releaseHold({ hold: 'two', row_key });
    await expect(eraser.retention.releaseHold({ hold: 'two', row_key })).rejects.toMatchObject({
      code: 'unknown_hold',
    });
    expect((await eraser.operations.erase({ row_key, reason: 'asked' })).state).toBe('erased');
  });

  it('of a subject are kept by its name', async () => {
    await eraser.retention.putHold({ hold: 'one', subject: 'rider#4711', reason: 'a court' });
    await expect(requireNotHeld(eraser.stateTable, name, { subject: 'rider#4711' })).rejects.toMatchObject({
      code: 'held',
      field: 'subject',
    });
    await eraser.retention.releaseHold({ hold: 'one', subject: 'rider#4711' });
    await requireNotHeld(eraser.stateTable, name, { subject: 'rider#4711' });
  });
});

it('the rules, and what was erased by them, are shown', async () => {
  const row_key = randomUUID();
  await write(row_key, 'STATUS', upTo(12));
  eraser.start(AT_ONCE);
  await comes(async () => (await bodiesOf(row_key, 'STATUS')).length === KEPT, PATIENCE);
  await comes(async () => (await eraser.retention.retention()).columns.length > 0, PATIENCE);
  const shownNow = await eraser.retention.retention();
  expect(shownNow.rules[0]).toEqual({ column: 'STATUS', keep_versions: KEPT });
  expect(shownNow.behind_seconds).toBeLessThan(60);
  const erased = shownNow.columns.find(({ column }) => column === 'STATUS')?.days.at(-1);
  expect(erased?.cells).toBeGreaterThanOrEqual(2);
});
