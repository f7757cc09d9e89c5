import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newErasure } from '../../../shared/erasures/carry-out.ts';
import { beginErasure, listErasures } from '../../../shared/erasures/erasure-record.ts';
import { sharedTable } from '../../support/shared-table.ts';

const table = await sharedTable();

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

it('records are listed page by page, those of other datastores left out', async () => {
  const all = [erasure(), erasure(), erasure()];
  for (const one of all) await beginErasure(table, 'paged', one);
  await beginErasure(table, 'paged2', erasure());
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
