import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { newErasure } from '../../../shared/erasures/carry-out.ts';
import { beginErasure, listErasures, openErasures } from '../../../shared/erasures/erasure-record.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

let table: DynamoTable;
beforeAll(async () => {
  table = await newTable(dynamoClient(inject('servers').dynamo));
});

const erasure = () =>
  newErasure({
    id: randomUUID(),
    scope: 'row',
    row_key: randomUUID(),
    column_name: null,
    ref_key: null,
    up_to: null,
    shard: 0,
    reason: 'request 4711',
    requested_by: 'tester',
  });
const free = async (): Promise<void> => {};
const held = (): Promise<never> => Promise.reject(new Error('held'));

describe('an erasure that is begun while its row is held', () => {
  it('is not listed, and has no record, where there was none', async () => {
    const one = erasure();
    await expect(beginErasure(table, 'trips', one, held)).rejects.toThrow('held');
    expect(await openErasures(table, 'trips')).not.toContain(one.id);
    const { erasures } = await listErasures(table, 'trips', undefined, 100);
    expect(erasures.map(({ id }) => id)).not.toContain(one.id);
  });

  it('goes on to be listed where it had begun before: nobody else would finish it', async () => {
    const one = erasure();
    await beginErasure(table, 'trips', one, free);
    await expect(beginErasure(table, 'trips', one, held)).rejects.toThrow('held');
    expect(await openErasures(table, 'trips')).toContain(one.id);
  });
});

it('records are listed page by page, those of other datastores left out', async () => {
  const all = [erasure(), erasure(), erasure()];
  for (const one of all) await beginErasure(table, 'paged', one, free);
  await beginErasure(table, 'paged2', erasure(), free);
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = await listErasures(table, 'paged', after, 2);
    expect(page.erasures.length).toBeLessThanOrEqual(2);
    found.push(...page.erasures.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  expect(found.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
});
