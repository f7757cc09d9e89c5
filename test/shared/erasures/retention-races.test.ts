import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../shared/address.ts';
import type { RetentionRule } from '../../../shared/definitions/definitions.ts';
import { readState } from '../../../shared/dynamo/state-table.ts';
import { VERSIONS_AT_ONCE } from '../../../shared/erasures/retention/erase-hidden.ts';
import { leastHidden } from '../../../shared/erasures/retention/retain-shard.ts';
import { listRetained } from '../../../shared/erasures/retention/retained.ts';
import { readOffsets, writeOffset } from '../../../shared/erasures/retention/retention-offset.ts';
import type { Statement } from '../../../shared/sql/client.ts';
import { writeRetention } from '../../../shared/topology/dynamo-topology.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { until } from '../../support/until.ts';
import { AT_ONCE, openEraser, retained, SPARING, upTo } from './support.ts';

/** Changes between two steps of the run in the background: the store's clients and the state table stop there. */

const SHARD = 0;
const HOUR_MS = 3_600_000;
const LAST: readonly RetentionRule[] = [{ column: 'STATUS', keepVersions: 1 }];

/** Once, behind the next statement that it is true of. */
let behind: { readonly is: (statement: Statement) => boolean; readonly run: () => Promise<unknown> } | undefined;

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
const erases = (rowKey: string) => (statement: Statement) =>
  isErasure(statement) &&
  statement.parameters.some((one) => one instanceof Uint8Array && Buffer.compare(one, rowKeyBytes(rowKey)) === 0);

const opened = await sharedTrips(1, {
  retention: { trips: LAST },
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
const { store, trips, name } = opened;
const { ruled, write, bodiesOf, left, age } = retained(opened);
const eraser = await openEraser(store, 'trips');
afterEach(async () => {
  behind = undefined;
  await eraser.end();
});

/** Rows of two versions each, the first of which is to be erased, in the order of the log. */
async function rowsOf(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => randomUUID());
  for (const row_key of rows) await write(row_key, 'STATUS', [1, 2]);
  return rows;
}

const nothingOpen = (): Promise<void> =>
  until('nothing is open', async () => (await readOffsets(eraser.stateTable, name, 1)).get(SHARD)?.open.length === 0);

/** A row whose erasure was begun, and left without a place in the log. */
async function leftOpen(): Promise<string> {
  await ruled(LAST);
  const [before = ''] = await rowsOf(1);
  const stop = eraser.start(AT_ONCE);
  await left(before, 'STATUS', 1);
  await nothingOpen();
  await stop();
  const [row_key = ''] = await rowsOf(1);
  const place = (await readOffsets(eraser.stateTable, name, 1)).get(SHARD);
  if (!place) throw new Error('no round yet');
  const token = Number((await readState(eraser.stateTable, `retention#${name}#0`))?.['token']?.N ?? 0);
  const open = [{ target: { row_key, column_name: 'STATUS', up_to: 1 }, waits_for: null }];
  await writeOffset(eraser.stateTable, { datastore: name, shard: SHARD, token }, { ...place, open });
  return row_key;
}

it('a young cell is kept that comes below old ones while they are about to be erased', async () => {
  const row_key = randomUUID();
  await ruled([{ column: 'PLACE', keepForMs: HOUR_MS }]);
  await write(row_key, 'PLACE', [5, 9]);
  await age(2);
  behind = { is: readsColumn, run: () => write(row_key, 'PLACE', [3]) };
  eraser.start(AT_ONCE);
  await until('old ones are erased', async () => !(await bodiesOf(row_key, 'PLACE')).includes(9));
  await eraser.roundAfter();
  expect(await bodiesOf(row_key, 'PLACE')).toEqual([3]);
  expect((await trips.get({ row_key, column_name: 'PLACE', ref_key: 3 })).cell?.body).toMatchObject({ ref_key: 3 });
});

it('each old cell is erased once, however many young ones stand below it', async () => {
  const row_key = randomUUID();
  const young = upTo(VERSIONS_AT_ONCE + 1);
  await ruled([{ column: 'MANY', keepForMs: HOUR_MS }]);
  await write(row_key, 'MANY', [300, 301, 302]);
  await age(2);
  // As they are kept, none of the old ones goes with an erasure of versions.
  await write(row_key, 'MANY', young);
  eraser.start(AT_ONCE);
  await left(row_key, 'MANY', young.length);
  await nothingOpen();
  await eraser.roundAfter();
  expect(await bodiesOf(row_key, 'MANY')).toEqual(young);
  const columns = await listRetained(eraser.stateTable, name);
  const days = columns.find(({ column }) => column === 'MANY')?.days ?? [];
  expect(days.reduce((sum, day) => sum + day.erasures, 0)).toBe(3);
});

it.each([
  ['under rules that keep it', () => ruled([{ column: 'STATUS', keepVersions: 2 }]), () => eraser.roundAfter()],
  // Nothing is searched then.
  ['without rules', () => ruled(undefined), () => Promise.resolve()],
])('what was begun without a place in the log is not erased %s', async (_what, change, wait) => {
  const row_key = await leftOpen();
  await change();
  eraser.start(AT_ONCE);
  await nothingOpen();
  await wait();
  expect(await bodiesOf(row_key)).toEqual([1, 2]);
});

it('what was begun without a place in the log is erased where nothing has changed', async () => {
  const row_key = await leftOpen();
  eraser.start(SPARING);
  await left(row_key, 'STATUS', 1);
  await nothingOpen();
  expect(await bodiesOf(row_key)).toEqual([2]);
});

it('rules that are loosened while many are erased take effect', async () => {
  await ruled(LAST);
  const rows = await rowsOf(24);
  const [first = ''] = rows;
  const loosened = [{ column: 'STATUS', keepVersions: 5 }];
  // Not that of a row which a test before this one has left.
  behind = { is: erases(first), run: () => writeRetention(store.topologyTable, name, loosened) };
  eraser.start(AT_ONCE);
  await left(first, 'STATUS', 1);
  await eraser.roundAfter();
  expect(await bodiesOf(rows.at(-1) ?? '')).toEqual([1, 2]);
});

it('a column that grows after its check is checked again', async () => {
  await ruled([{ column: 'STATUS', keepVersions: 10 }]);
  const [row_key, begun] = [randomUUID(), randomUUID()];
  await write(begun, 'STATUS', upTo(11));
  const stop = eraser.start(SPARING);
  await left(begun, 'STATUS', 10);
  await stop();
  await write(row_key, 'STATUS', upTo(5));
  // A page of the log.
  for (let page = 0; page < 10; page += 1) await write(randomUUID(), 'OTHER', upTo(100));
  behind = { is: readsColumn, run: () => write(row_key, 'STATUS', upTo(40).slice(5)) };
  eraser.start(SPARING);
  await left(row_key, 'STATUS', 10);
  expect(await bodiesOf(row_key)).toEqual(upTo(40).slice(30));
});

it('columns are erased at once that have as many as one check reads, however many they keep', () => {
  expect([1, 20, 100, 1000].map(leastHidden)).toEqual([10, 10, 50, VERSIONS_AT_ONCE]);
});
