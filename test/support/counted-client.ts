import type { SqlClient } from '../../shared/sql/client.ts';
import { readsAfterCommit } from '../../shared/sql/reads-after-commit.ts';

/** Counts of traffic to the groups. */
export interface Sent {
  statements: number;
  /** Statements committed by themselves, and transactions. */
  commits: number;
  roundTrips: number;
}

export function counted(client: SqlClient, sent: Sent): SqlClient {
  const { transactions } = client;
  const count = (statements: number, commits: number): void => {
    sent.statements += statements;
    sent.commits += commits;
    sent.roundTrips += 1;
  };
  return {
    ...client,
    select(statement, target) {
      count(1, 0);
      return client.select(statement, target);
    },
    change(statement) {
      count(1, 1);
      return client.change(statement);
    },
    ...(transactions && {
      transactions: {
        ...transactions,
        run(statements) {
          count(statements.length + readsAfterCommit(statements).selects.length, 1);
          return transactions.run(statements);
        },
      },
    }),
  };
}
