import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { MAX_SHARDS } from '../../../../shared/definitions/definitions.ts';
import { pendingMarks } from '../../../../shared/index/repair/pending-marks.ts';
import { sharedTable } from '../../../support/shared-table.ts';

/** One shard of so many is marked: more than one item of 400 KB takes. */
const SPREAD = 4;

const table = await sharedTable();
const marks = pendingMarks(table, 'trips');

const one = async (group: string) => (await marks.read([group], 60))[0] ?? { shard: -1, from: 0, marks: 0 };

it('marks keep the lowest added id of each shard, of more shards than one write takes', async () => {
  await marks.mark('group-1', new Map(Array.from({ length: 60 }, (_, shard) => [shard, 100 + shard])));
  await marks.mark(
    'group-1',
    new Map([
      [3, 500],
      [4, 7],
    ]),
  );
  const found = (await marks.read(['group-1'], 60)).sort((a, b) => a.shard - b.shard);
  expect(found).toHaveLength(60);
  expect(found.slice(2, 5).map(({ shard, from }) => [shard, from])).toEqual([
    [2, 102],
    [3, 103],
    [4, 7],
  ]);
  expect(await marks.read(['group-2'], 60)).toEqual([]);
});

it('a mark that is set while a shard is caught up is not cleared with the one before', async () => {
  await marks.mark('group-3', new Map([[0, 10]]));
  const seen = await one('group-3');
  await marks.mark('group-3', new Map([[0, 40]]));
  expect(await marks.clear('group-3', seen)).toBe(false);
  expect(await marks.advance('group-3', seen, 30)).toBe(true);
  expect(await one('group-3')).toMatchObject({ from: 30 });
  expect(await marks.clear('group-3', await one('group-3'))).toBe(true);
  expect(await marks.read(['group-3'], 60)).toEqual([]);
});

it('a mark that is set further back while a shard is caught up stays there', async () => {
  await marks.mark('group-4', new Map([[0, 10]]));
  const seen = await one('group-4');
  await marks.mark('group-4', new Map([[0, 5]]));
  expect(await marks.advance('group-4', seen, 30)).toBe(false);
  expect(await marks.clear('group-4', seen)).toBe(false);
  expect(await one('group-4')).toMatchObject({ from: 5 });
});

it('marks of as many shards as a datastore may have are taken, and found and cleared one by one', async () => {
  const lowest = new Map(
    Array.from({ length: MAX_SHARDS / SPREAD }, (_, position) => [
      position * SPREAD + (position % SPREAD),
      31_536_000_000 + position,
    ]),
  );
  await marks.mark('group-5', lowest);
  const found = await marks.read(['group-5'], MAX_SHARDS);
  expect(new Map(found.map(({ shard, from }) => [shard, from]))).toEqual(lowest);
  const last = found.toSorted((one, other) => one.shard - other.shard).at(-1);
  expect(last && (await marks.clear('group-5', last))).toBe(true);
  expect(await marks.read(['group-5'], MAX_SHARDS)).toHaveLength(lowest.size - 1);
});

it('a mark costs few write units, however many shards are marked', async () => {
  const all = Array.from({ length: 600 }, (_, shard): [number, number] => [shard, 1_000_000_000 + shard]);
  await marks.mark('group-units', new Map(all));
  const { Item } = await table.client.send(
    new GetItemCommand({ TableName: table.table, Key: { pk: { S: 'pending#trips#group-units#0' } } }),
  );
  // A write unit is a kilobyte of the whole item.
  expect(JSON.stringify(Item).length / 1024).toBeLessThan(20);
  expect(await marks.read(['group-units'], 600)).toHaveLength(600);
});
