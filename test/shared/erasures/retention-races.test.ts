import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../shared/address.ts';
import { LIMITS } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { RetentionRule } from '../../../shared/definitions/definitions.ts';
import { readState, updateState } from '../../../shared/dynamo/state-table.ts';
import { putHold } from '../../../shared/erasures/holds.ts';
import { leastHidden } from '../../../shared/erasures/retention/retain-shard.ts';
import { listRetained } from '../../../shared/erasures/retention/retained-days.ts';
import { readPlaces, writePlace, type OpenPart } from '../../../shared/erasures/retention/retention-place.ts';
import type { Statement } from '../../../shared/sql/client.ts';
import { writeRetention } from '../../../shared/topology/what-is-kept.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { comes } from '../../support/until.ts';
import { bodiesIn, openEraser, setRules, upTo, type Eraser } from './support.ts';

/** What comes between two steps of whoever erases: the store's clients and the state table stop there. */

const SHARD = 0;
const LAST: readonly RetentionRule[] = [{ column: 'STATUS', keepVersions: 1 }];
const AT_ONCE = { roundMs: 50, wholeMs: 100, rest: 0 };
/** Only the first look under new rules is at all there is. */
const SPARING = { roundMs: 50, wholeMs: 3_600_000, rest: 0 };
const PATIENCE = { patienceMs: 30_000, pollMs: 30 };

let store: RealStore;
let trips: Datastore;
let name: string;
let eraser: Eraser;
/** Once, behind the next statement that it is true of. */
let behind: { readonly is: (statement: Statement) => boolean; readonly run: () => Promise<void> } | undefined;

async function stopBehind(statement: Statement): Promise<void> {
  if (!behind?.is(statement)) return;
  const { run } = behind;
  behind = undefined;
  await run();
}

const readsColumn = ({ sql }: Statement): boolean => sql.includes('AS past FORCE INDEX (cell) WHERE');
const isErasure = ({ sql, parameters }: Statement): boolean =>
  sql.startsWith('INSERT') &&
  parameters.some((one) => one instanceof Uint8Array && (one[0] ?? 2) < 2 && one.length === 7);
const isOf = ({ parameters }: Statement, rowKey: string): boolean =>
  parameters.some((one) => one instanceof Uint8Array && Buffer.compare(one, rowKeyBytes(rowKey)) === 0);

beforeAll(async () => {
  store = await openRealStore({
    datastores: { raced: 1, plain: 1 },
    retention: { raced: LAST },
    wrap: (client) => ({
      ...client,
      async select(statement, target) {
        const rows = await client.select(statement, target);
        await stopBehind(statement);
        return rows;
      },
      async change(statement) {
        const result = await client.change(statement);
        await stopBehind(statement);
        return result;
      },
    }),
  });
  name = store.nameOf('raced');
  trips = await store.deployment.datastore(name);
  eraser = await openEraser(store, 'raced');
});
afterEach(async () => {
  behind = undefined;
  await eraser[Symbol.asyncDispose]();
  if (eraser.failures.length > 0) throw new AggregateError(eraser.failures, 'who goes on stumbled');
});
afterAll(() => store.close());

const ruled = (rules: readonly RetentionRule[] | undefined): Promise<void> => setRules(store, name, rules);

async function write(row_key: string, column_name: string, refKeys: readonly number[]): Promise<void> {
  for (let from = 0; from < refKeys.length; from += LIMITS.batchCells) {
    const some = refKeys.slice(from, from + LIMITS.batchCells);
    const cells = some.map((ref_key) => ({ row_key, column_name, ref_key, body: { ref_key } }));
    for (const { outcome } of await trips.batchPut(cells)) expect(outcome).toBe('stored');
  }
}

const bodiesOf = (row_key: string, column_name = 'STATUS'): Promise<number[]> =>
  bodiesIn(store, name, { row_key, column_name });

const isErased = (row_key: string): Promise<boolean> =>
  comes(async () => (await bodiesOf(row_key)).length === 1, PATIENCE);

const hold = (row_key: string): Promise<unknown> =>
  eraser.retention.putHold({ hold: 'case', row_key, reason: 'a court' });

/** Rows of two versions each, the first of which is to be erased, in the order of the log. */
async function rowsOf(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => randomUUID());
  for (const row_key of rows) await write(row_key, 'STATUS', [1, 2]);
  return rows;
}

/** As whoever died over it before it had its place left it. */
async function leaveOpen(target: OpenPart['target']): Promise<void> {
  const place = (await readPlaces(eraser.stateTable, name, 1)).get(SHARD);
  if (!place) throw new Error('nobody has looked yet');
  const item = await readState(eraser.stateTable, `retention#${name}#0`);
  const token = Number(item?.['token']?.N ?? 0);
  await writePlace(
    eraser.stateTable,
    { datastore: name, shard: SHARD, token },
    { ...place, open: [{ target, waits_for: null }] },
  );
}

const hasNoneOpen = async (): Promise<boolean> =>
  (await readPlaces(eraser.stateTable, name, 1)).get(SHARD)?.open.length === 0;

async function looked(): Promise<void> {
  await ruled(LAST);
  const [row = ''] = await rowsOf(1);
  const stop = eraser.start(AT_ONCE);
  expect(await isErased(row)).toBe(true);
  expect(await comes(hasNoneOpen, PATIENCE)).toBe(true);
  await stop();
}

it('a young cell is kept that comes below old ones while they are about to be erased', async () => {
  const row_key = randomUUID();
  await ruled([{ column: 'PLACE', keepForMs: 5000 }]);
  await write(row_key, 'PLACE', [5, 9]);
  await sleep(5100);
  let writtenAt = 0;
  behind = {
    is: readsColumn,
    run: async () => {
      await write(row_key, 'PLACE', [3]);
      writtenAt = Date.now();
    },
  };
  eraser.start(AT_ONCE);
  // Old ones go one after another; what is left is asked for while the young one is far from old.
  await comes(async () => (await bodiesOf(row_key, 'PLACE')).length <= 1, { ...PATIENCE, patienceMs: 4500 });
  expect(writtenAt).toBeGreaterThan(0);
  expect(await bodiesOf(row_key, 'PLACE')).toEqual([3]);
  expect(Date.now() - writtenAt).toBeLessThan(4900);
  expect((await trips.get({ row_key, column_name: 'PLACE', ref_key: 3 })).cell?.body).toEqual({ ref_key: 3 });
});

it('each old cell is erased once, however many a column has', async () => {
  const row_key = randomUUID();
  const count = 230;
  await ruled([{ column: 'MANY', keepForMs: 4000 }]);
  await write(row_key, 'MANY', upTo(count + 1).slice(1));
  await sleep(4100);
  // Below them: as it is kept, none of them goes with an erasure of versions.
  await write(row_key, 'MANY', [1]);
  eraser.start(AT_ONCE);
  const patience = { ...PATIENCE, patienceMs: 90_000 };
  expect(await comes(async () => (await bodiesOf(row_key, 'MANY')).length <= 1, patience)).toBe(true);
  expect(await comes(async () => (await bodiesOf(row_key, 'MANY')).length === 0, PATIENCE)).toBe(true);
  const erasures = async (): Promise<number> => {
    const columns = await listRetained(eraser.stateTable, name);
    return columns.find(({ column }) => column === 'MANY')?.days.reduce((sum, day) => sum + day.erasures, 0) ?? 0;
  };
  expect(await comes(async () => (await erasures()) > count, PATIENCE)).toBe(true);
  expect(await erasures()).toBe(count + 1);
}, 180_000);

it('what was begun without a place in the log is not erased under rules that keep it', async () => {
  await looked();
  const [row_key = ''] = await rowsOf(1);
  await leaveOpen({ row_key, column_name: 'STATUS', up_to: 1 });
  await ruled([{ column: 'STATUS', keepVersions: 2 }]);
  eraser.start(AT_ONCE);
  expect(await comes(hasNoneOpen, PATIENCE)).toBe(true);
  expect(await bodiesOf(row_key)).toEqual([1, 2]);
});

it('nor where there are no rules any more', async () => {
  await looked();
  const [row_key = ''] = await rowsOf(1);
  await leaveOpen({ row_key, column_name: 'STATUS', up_to: 1 });
  await ruled(undefined);
  eraser.start(AT_ONCE);
  expect(await comes(hasNoneOpen, PATIENCE)).toBe(true);
  expect(await bodiesOf(row_key)).toEqual([1, 2]);
});

it('nor of a row that is held by now', async () => {
  await looked();
  const [row_key = '', other = ''] = await rowsOf(2);
  await leaveOpen({ row_key, column_name: 'STATUS', up_to: 1 });
  await hold(row_key);
  eraser.start(AT_ONCE);
  expect(await isErased(other)).toBe(true);
  expect(await comes(hasNoneOpen, PATIENCE)).toBe(true);
  expect(await bodiesOf(row_key)).toEqual([1, 2]);
});

it('what was begun is gone on with where nothing has changed', async () => {
  await looked();
  const [row_key = ''] = await rowsOf(1);
  await leaveOpen({ row_key, column_name: 'STATUS', up_to: 1 });
  eraser.start(SPARING);
  expect(await isErased(row_key)).toBe(true);
  expect(await comes(hasNoneOpen, PATIENCE)).toBe(true);
});

it('a hold that comes while many are erased is heeded', async () => {
  const row_key = randomUUID();
  await ruled([{ column: 'MOMENT', keepForMs: 1000 }]);
  await write(row_key, 'MOMENT', upTo(60));
  await sleep(1100);
  behind = {
    is: (statement) => isErasure(statement) && isOf(statement, row_key),
    run: async () => void (await hold(row_key)),
  };
  eraser.start(AT_ONCE);
  expect(await comes(async () => (await bodiesOf(row_key, 'MOMENT')).length < 60, PATIENCE)).toBe(true);
  await sleep(1500);
  // The batch in which it came.
  expect((await bodiesOf(row_key, 'MOMENT')).length).toBeGreaterThanOrEqual(60 - 16);
});

it('rules that are loosened while many are erased are heeded', async () => {
  await ruled(LAST);
  const rows = await rowsOf(40);
  const [first = ''] = rows;
  behind = {
    // Not that of a row which a test before this one has left.
    is: (statement) => isErasure(statement) && isOf(statement, first),
    run: () => writeRetention(store.topologyTable, name, [{ column: 'STATUS', keepVersions: 5 }]),
  };
  eraser.start(AT_ONCE);
  expect(await isErased(first)).toBe(true);
  await sleep(1500);
  expect(await bodiesOf(rows.at(-1) ?? '')).toEqual([1, 2]);
});

it('a hold that comes while an erasure is begun is heeded', async () => {
  const row_key = randomUUID();
  await write(row_key, 'STATUS', [1]);
  let isHeld = false;
  eraser.stateTable.client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args);
      const { Key } = args.input as UpdateItemCommandInput;
      if (context.commandName !== UpdateItemCommand.name || isHeld || Key?.['pk']?.S !== `erasures#${name}`)
        return answer;
      isHeld = true;
      await hold(row_key);
      return answer;
    },
    { step: 'initialize', name: 'holds' },
  );
  await expect(eraser.operations.erase({ row_key, reason: 'asked' })).rejects.toMatchObject({ code: 'held' });
  eraser.stateTable.client.middlewareStack.remove('holds');
  expect(isHeld).toBe(true);
  expect((await eraser.operations.erasures({ open: true })).erasures).toEqual([]);
  eraser.start();
  await sleep(300);
  expect(await bodiesOf(row_key)).toEqual([1]);
});

it('a column that grows after it was looked at is looked at again', async () => {
  await ruled([{ column: 'STATUS', keepVersions: 10 }]);
  const [row_key, begun] = [randomUUID(), randomUUID()];
  await write(begun, 'STATUS', upTo(11));
  const stop = eraser.start(SPARING);
  await comes(async () => (await bodiesOf(begun)).length === 10, PATIENCE);
  await stop();
  await write(row_key, 'STATUS', upTo(5));
  // A page of the log.
  for (let page = 0; page < 10; page += 1) await write(randomUUID(), 'OTHER', upTo(100));
  behind = { is: readsColumn, run: () => write(row_key, 'STATUS', upTo(40).slice(5)) };
  eraser.start(SPARING);
  expect(await comes(async () => (await bodiesOf(row_key)).length === 10, PATIENCE)).toBe(true);
});

it('columns of which many are kept are erased within minutes, too', async () => {
  await ruled([{ column: 'STATUS', keepVersions: 410 }]);
  const [row_key, begun] = [randomUUID(), randomUUID()];
  await write(begun, 'STATUS', upTo(411));
  const stop = eraser.start(SPARING);
  await comes(async () => (await bodiesOf(begun)).length === 410, PATIENCE);
  await stop();
  await write(row_key, 'STATUS', upTo(410 + 203));
  eraser.start(SPARING);
  expect(await comes(async () => (await bodiesOf(row_key)).length === 410, PATIENCE)).toBe(true);
  expect(leastHidden(1000)).toBe(200);
});

it('a row that is about to be released, and still held as it is looked at, is not forgotten', async () => {
  const mark = async (): Promise<readonly string[]> =>
    (await readState(eraser.stateTable, `held#${name}`))?.['released']?.SS ?? [];
  const [row_key, other] = [randomUUID(), randomUUID()];
  await hold(row_key);
  const rows = { SS: [row_key, other] };
  await updateState(eraser.stateTable, {
    key: `held#${name}`,
    update: 'ADD #released :rows',
    values: { ':rows': rows },
  });
  await ruled(LAST);
  eraser.start(AT_ONCE);
  expect(await comes(async () => !(await mark()).includes(other), PATIENCE)).toBe(true);
  await sleep(300);
  expect(await mark()).toContain(row_key);
});

it('what is released is noted nowhere in a datastore without rules', async () => {
  await using plain = await openEraser(store, 'plain');
  const row_key = randomUUID();
  const held = { hold: 'case', row_key, subject: null, reason: 'a court', requested_by: 'tester' };
  const requested_at = '2026-01-01T00:00:00.000Z';
  await putHold(plain.stateTable, store.nameOf('plain'), { row_key }, { ...held, requested_at });
  await plain.retention.releaseHold({ hold: 'case', row_key });
  expect((await readState(plain.stateTable, `held#${store.nameOf('plain')}`))?.['released']).toBeUndefined();
});
