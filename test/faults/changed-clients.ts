import type { SqlChange, SqlClient, Statement } from '../../shared/sql/client.ts';

/** A client whose changes are made otherwise. */
export function changing(
  otherwise: (statement: Statement, client: SqlClient) => Promise<SqlChange>,
): (client: SqlClient) => SqlClient {
  return (client) => ({ ...client, change: (statement) => otherwise(statement, client) });
}

/** A client whose changes have another text. */
export function rewording(reword: (sql: string) => string): (client: SqlClient) => SqlClient {
  return changing((statement, client) => client.change({ ...statement, sql: reword(statement.sql) }));
}

/** As a server answers that had nothing to change. */
export const NOTHING: SqlChange = { affectedRows: 0, insertId: 0 };
