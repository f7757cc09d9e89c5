import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { readState } from '../../../shared/dynamo/state-table.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { changeItem } from '../../../shared/dynamo/change-item.ts';
import { losingClient } from '../../support/dynamo.ts';
import { sharedTable } from '../../support/shared-table.ts';

const table = await sharedTable();

const addOne = (to: DynamoTable, key: string): Promise<number> =>
  changeItem(to, key, (item) => {
    const next = Number(item?.['count']?.N ?? 0) + 1;
    return { values: { count: { N: String(next) } }, result: next };
  });

describe('changeItem', () => {
  it('loses no change of many made at once', async () => {
    const key = randomUUID();
    const results = await Promise.all(Array.from({ length: 10 }, () => addOne(table, key)));
    expect(results.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await readState(table, key))?.['count']?.N).toBe('10');
  });

  it('counts once where the write was done and its answer was lost', async () => {
    const key = randomUUID();
    const { client, lost } = losingClient(inject('servers').dynamo);
    expect(await addOne({ ...table, client }, key)).toBe(1);
    expect(lost()).toBe(1);
    expect((await readState(table, key))?.['count']?.N).toBe('1');
    client.destroy();
  });

  it('writes nothing where nothing is to be changed', async () => {
    const key = randomUUID();
    expect(await changeItem(table, key, (item) => ({ result: item }))).toBeUndefined();
    expect(await readState(table, key)).toBeUndefined();
  });
});
