import { expect, it } from 'vitest';
import type { SqlRow, Statement } from '../../../shared/sql/client.ts';
import { readsBehind } from '../../../shared/sql/reads-behind.ts';

const reading = (name: string, items: number, branches = items): Statement => ({
  sql: 'a change',
  parameters: [],
  thenSelect: {
    items,
    branches,
    from: (first) => ({
      sql: Array.from({ length: items }, (_, position) => `(SELECT ${first + position}, '${name}')`).join(
        ' UNION ALL ',
      ),
      parameters: [],
    }),
  },
});
const answer = ({ sql }: Statement): SqlRow[] =>
  [...sql.matchAll(/SELECT (\d+), '(\w+)'/gu)].map(([, item = '', name = '']) => [item, name]);

it('reads are one SELECT, and each gets its own rows, with its own numbers', () => {
  const statements = [
    reading('states', 2),
    { sql: 'nothing', parameters: [] },
    reading('other', 1),
    reading('states', 3),
  ];
  const { selects, rowsOf } = readsBehind(statements);
  expect(selects).toHaveLength(1);
  const rows = rowsOf(selects.map((select) => answer(select).toReversed()));
  expect(rows.map((ofOne) => ofOne?.map(([item, name]) => `${Number(item)} ${String(name)}`).sort())).toEqual([
    ['0 states', '1 states'],
    undefined,
    ['0 other'],
    ['0 states', '1 states', '2 states'],
  ]);
});

it('no SELECT has more than a hundred branches, unless one read has', () => {
  const statements = [...Array.from({ length: 30 }, () => reading('states', 10)), reading('states', 250)];
  const { selects } = readsBehind(statements);
  expect(selects.map(({ sql }) => sql.split(' UNION ALL ').length)).toEqual([100, 100, 100, 250]);
});
