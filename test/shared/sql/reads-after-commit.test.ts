import { expect, it } from 'vitest';
import type { SqlRow, Statement } from '../../../shared/sql/client.ts';
import { readsAfterCommit } from '../../../shared/sql/reads-after-commit.ts';

const reading = (name: string, branches: number): Statement => ({
  sql: 'a change',
  parameters: [],
  readAfter: [
    {
      branches,
      from: (item) => ({
        sql: Array.from({ length: branches }, (_, branch) => `(SELECT ${item}, '${name}${branch}')`).join(
          ' UNION ALL ',
        ),
        parameters: [],
      }),
    },
  ],
});
const answer = ({ sql }: Statement): SqlRow[] =>
  [...sql.matchAll(/SELECT (\d+), '(\w+)'/gu)].map(([, item = '', name = '']) => [item, name]);

it('reads are one SELECT, and each gets its own rows', () => {
  const both = { ...reading('b', 1), readAfter: ['b', 'd'].flatMap((name) => reading(name, 1).readAfter ?? []) };
  const statements = [reading('a', 2), { sql: 'nothing', parameters: [] }, both, reading('c', 3)];
  const { selects, rowsOf } = readsAfterCommit(statements);
  expect(selects).toHaveLength(1);
  const rows = rowsOf(selects.map((select) => answer(select).toReversed()));
  expect(rows.map((reads) => reads?.map((ofOne) => ofOne.map(([, name]) => String(name)).sort()))).toEqual([
    [['a0', 'a1']],
    undefined,
    [['b0'], ['d0']],
    [['c0', 'c1', 'c2']],
  ]);
});

it('no SELECT has more than a hundred branches, unless one read has', () => {
  const statements = [...Array.from({ length: 30 }, () => reading('a', 10)), reading('b', 250)];
  const { selects } = readsAfterCommit(statements);
  expect(selects.map(({ sql }) => sql.split(' UNION ALL ').length)).toEqual([100, 100, 100, 250]);
});
