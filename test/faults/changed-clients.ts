import type { SqlChange, SqlClient, Statement } from '../../shared/sql/client.ts';

export function changing(
  otherwise: (statement: Statement, client: SqlClient) => Promise<SqlChange>,
): (client: SqlClient) => SqlClient {
  return (client) => ({ ...client, change: (statement) => otherwise(statement, client) });
}

export function rewording(reword: (sql: string) => string): (client: SqlClient) => SqlClient {
  return changing((statement, client) => client.change({ ...statement, sql: reword(statement.sql) }));
}

/** Rewords transactions as well. */
export function rewordingPlans(reword: (sql: string) => string): (client: SqlClient) => SqlClient {
  const reworded = (statement: Statement): Statement => ({ ...statement, sql: reword(statement.sql) });
  return ({ transactions, ...client }) => ({
    ...client,
    change: (statement) => client.change(reworded(statement)),
    ...(transactions && {
      transactions: { ...transactions, run: (statements) => transactions.run(statements.map(reworded)) },
    }),
  });
}

/** The answer of a server that had nothing to change. */
export const NOTHING: SqlChange = { affectedRows: 0, insertId: 0 };
