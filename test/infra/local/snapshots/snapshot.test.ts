import { randomBytes } from 'node:crypto';
import { inject, afterAll, expect, test } from 'vitest';
import {
  readSnapshot,
  writeSnapshot,
  type Snapshot,
  type TableItem,
  takeSnapshot,
  replaceItems,
} from '../../../../infra/local/snapshots/snapshot.ts';
import { whyCellsWouldGo, restoreGroup } from '../../../../infra/local/snapshots/restore-group.ts';
import { restoreStack } from '../../../../infra/local/snapshots/restore-stack.ts';
import type { LocalStack } from '../../../../infra/local/running/running-stack.ts';
import type { ShardGroups } from '../../../../infra/local/mysql/shard-groups.ts';
import { allItems } from '../../../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { makeTable } from '../emulators/emulated-table.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
const client = dynamoClient(inject('servers').dynamo);
afterAll(() => client.destroy());

const item = (pk: string, more: TableItem = {}): TableItem => ({ pk: { S: pk }, ...more });
const snapshot: Snapshot = {
  taken_at: '2026-01-31T08:00:00.000Z',
  engine: 'mariadb',
  groups: { 'group-1': '0-1-100' },
  tables: { state: [item('offsets', { offsets: { B: new Uint8Array(randomBytes(300)) }, names: { SS: ['a', 'b'] } })] },
};

test('a snapshot is read as it was taken, bytes included', () => {
  const here = { snapshots: `${folder.path}/kept` };
  writeSnapshot(here, 'before-upgrade', snapshot);
  expect(readSnapshot(here, 'before-upgrade')).toEqual(snapshot);
});

test('an invalid, taken or unknown name is refused with the known ones', async () => {
  const here = { snapshots: `${folder.path}/named` };
  expect(() => writeSnapshot(here, '../elsewhere', snapshot)).toThrow(
    'snapshot: wanted a name of a-z, 0-9 and hyphens',
  );
  writeSnapshot(here, 'one', snapshot);
  expect(() => writeSnapshot(here, 'one', snapshot)).toThrow('snapshot: wanted a name that no snapshot has');
  expect(() => readSnapshot(here, 'two')).toThrow('snapshot: wanted one of one');
  await expect(restoreGroup({} as ShardGroups, 'group-9', snapshot)).rejects.toThrow('group: wanted one of group-1');
  await expect(restoreStack(`${folder.path}/nowhere`, 'one', () => undefined)).rejects.toThrow('where there is none');
});

test('a group is not restored if it would lose cells: copies kept for too short, or gone with another group', () => {
  const now = Date.parse('2026-01-31T08:30:00Z');
  const why = (keepMinutes: number, restoreTimes = {}) =>
    whyCellsWouldGo('group-1', snapshot, { keepMinutes, restoreTimes, now });
  expect(why(60)).toBeUndefined();
  expect(why(29)).toContain('copies are kept for 29 minutes');
  expect(why(60, { 'group-2': '2026-01-31T07:59:00.000Z', 'group-1': '2026-01-31T08:10:00.000Z' })).toBeUndefined();
  expect(why(60, { 'group-2': '2026-01-31T08:10:00.000Z' })).toContain('group-2 was restored at 2026-01-31T08:10');
  // As it was taken, to the millisecond.
  const atOnce = { restoreTimes: {}, now: Date.parse(snapshot.taken_at) };
  expect(whyCellsWouldGo('group-1', snapshot, { keepMinutes: 0, ...atOnce })).toContain('kept for 0 minutes');
  expect(whyCellsWouldGo('group-1', snapshot, { keepMinutes: 1, ...atOnce })).toBeUndefined();
});

test('a table has the items of the snapshot afterwards, and no others', async () => {
  const { table } = await newTable(client);
  const before = Array.from({ length: 60 }, (_, number) => item(`item-${number}`, { value: { N: String(number) } }));
  await replaceItems(client, table, before);
  expect(await allItems({ client, table })).toHaveLength(60);
  const after = [item('item-3', { value: { S: 'another' } }), item('new')];
  await replaceItems(client, table, after);
  expect(
    (await allItems({ client, table })).toSorted((one, other) =>
      (one['pk']?.S ?? '') < (other['pk']?.S ?? '') ? -1 : 1,
    ),
  ).toEqual(after);
});

test('has every table but that of keys, whatever the environment is named', async () => {
  const stack = `schemaless-keys-${randomBytes(4).toString('hex')}-storage`;
  const names = ['state', 'topology', 'keys'].map((name) => `${stack}-Tables${name}1A2B3C4D`);
  for (const name of names) await makeTable(client, name);
  const groups = { positions: async () => new Map(), engine: { kind: 'mariadb' } } as unknown as ShardGroups;
  const endpoints = { tables: names, dynamodb: inject('servers').dynamo } as unknown as LocalStack['endpoints'];
  const { tables } = await takeSnapshot({ groups, endpoints });
  expect(Object.keys(tables)).toEqual(names.slice(0, 2));
});
