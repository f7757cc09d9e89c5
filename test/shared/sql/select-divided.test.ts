import { describe, expect, it } from 'vitest';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { SqlError, type Statement } from '../../../shared/sql/client.ts';
import { unionOf } from '../../../shared/sql/union.ts';
import { selectDivided } from '../../../shared/sql/select-divided.ts';
import { faults } from '../../support/faulty-client.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const PARTS = 64;
const broken = faults();

const { store } = await sharedTrips(3);
const client = broken.wrap(store.client(store.groups[0]?.name ?? ''), 'group');

const good = (item: number): Statement => ({ sql: `SELECT ${item} AS item, ? AS bound`, parameters: [item] });
const ofNoTable = (item: number): Statement => ({
  sql: `SELECT ${item} AS item, added_id AS bound FROM \`schemaless\`.gone`,
  parameters: [],
});
const partsWith = (faulty: readonly number[]): Statement[] =>
  Array.from({ length: PARTS }, (_, item) => (faulty.includes(item) ? ofNoTable(item) : good(item)));

async function divide(parts: readonly Statement[]) {
  broken.statements.length = 0;
  const { rows, refused } = await selectDivided(client, parts, 'writer');
  return {
    items: rows.map(([item]) => toNumber(item)).sort((one, other) => one - other),
    refused,
    statements: broken.statements.length,
  };
}

describe('a union of many parts', () => {
  it('is one statement while nothing is refused', async () => {
    const { items, refused, statements } = await divide(partsWith([]));
    expect(items).toHaveLength(PARTS);
    expect([refused.size, statements]).toEqual([0, 1]);
    expect((await divide([])).statements).toBe(0);
  });

  it('is divided until the part that the server refuses stands alone, and the others are answered', async () => {
    const { items, refused, statements } = await divide(partsWith([17]));
    expect(items).toEqual(Array.from({ length: PARTS }, (_, item) => item).filter((item) => item !== 17));
    expect([...refused].map(([part, { failure }]) => [part, failure])).toEqual([[17, 'rejected']]);
    expect(statements).toBe(1 + 2 * Math.log2(PARTS));
  });

  it('gives up soon where a right is missing for all, and says so of each part', async () => {
    let statements = 0;
    const denying = {
      select: async (): Promise<never> => {
        statements += 1;
        throw new SqlError('rejected', 'SELECT command denied', { errno: 1142 });
      },
    };
    const parts = Array.from({ length: PARTS }, (_, item) => ({ ...good(item), table: `\`trips_${item}\`.entity` }));
    const { refused } = await selectDivided(denying, parts, 'writer');
    expect([...refused.keys()].sort((one, other) => one - other)).toEqual(parts.map((_, item) => item));
    expect(statements).toBeLessThan(4 * Math.log2(PARTS));
  });

  const all = Array.from({ length: PARTS }, (_, item) => item);
  it.each([
    ['a few', [0, 1, 63]],
    ['the first half', all.slice(0, PARTS / 2)],
    ['four of five', all.filter((item) => item % 5 !== 0)],
    ['each', all],
  ])('names the faulty parts and answers the others, where they are %s', async (_what, faulty) => {
    const { items, refused } = await divide(partsWith(faulty));
    expect([...refused.keys()]).toEqual(faulty);
    expect(items).toEqual(all.filter((item) => !faulty.includes(item)));
  });

  it('does not divide a part that is a union itself', async () => {
    const { items, refused } = await divide([unionOf([good(0), ofNoTable(1)]), unionOf([good(2), good(3)])]);
    expect([items, [...refused.keys()]]).toEqual([[2, 3], [0]]);
  });

  it('is not divided where no part is faulty: a group that is down is asked once', async () => {
    broken.behaviours.set('group', 'down');
    broken.statements.length = 0;
    await expect(selectDivided(client, partsWith([]), 'writer')).rejects.toMatchObject({ failure: 'unreachable' });
    expect(broken.statements).toHaveLength(1);
    broken.behaviours.clear();
  });
});
