import { expect, it } from 'vitest';
import { mySqlReplication } from '../../../../infra/local/mysql/mysql-replication.ts';
import type { Operator } from '../../../../infra/local/mysql/operator.ts';

const SOURCE = { host: '127.0.0.1', port: 3306, user: 'replication', password: 'secret' };

/** A server that refuses to start replicating so many times. */
function refusing(times: number, errno: number): { readonly node: Operator; readonly statements: string[] } {
  const statements: string[] = [];
  let left = times;
  const node: Operator = {
    async run(sql) {
      statements.push(sql.split(' ', 2).join(' '));
      if (sql === 'START REPLICA' && left > 0) {
        left -= 1;
        throw Object.assign(new Error('refused'), { errno });
      }
      return [];
    },
  };
  return { node, statements };
}

it('a reader that does not know whom it was told to follow is told again, and no more than three times', async () => {
  const once = refusing(1, 1200);
  await mySqlReplication.follow(once.node, SOURCE);
  expect(once.statements.filter((one) => one === 'CHANGE REPLICATION')).toHaveLength(2);
  expect(once.statements.at(-1)).toBe('START REPLICA');
  const forever = refusing(9, 1200);
  await expect(mySqlReplication.follow(forever.node, SOURCE)).rejects.toThrow('refused');
  expect(forever.statements.filter((one) => one === 'START REPLICA')).toHaveLength(3);
});

it('of any other refusal is told at once', async () => {
  const { node, statements } = refusing(1, 1045);
  await expect(mySqlReplication.follow(node, SOURCE)).rejects.toThrow('refused');
  expect(statements.filter((one) => one === 'START REPLICA')).toHaveLength(1);
});
