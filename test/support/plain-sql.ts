import type { SqlChange, SqlClient, SqlParameter, SqlRow, Statement } from '../../shared/sql/client.ts';

export function sql(text: string, ...parameters: readonly SqlParameter[]): Statement {
  return { sql: text, parameters };
}

/** Changes something on the writer. */
export function change(client: SqlClient, text: string, ...parameters: readonly SqlParameter[]): Promise<SqlChange> {
  return client.change(sql(text, ...parameters));
}

/** Returns the rows that the writer shows. */
export function select(
  client: SqlClient,
  text: string,
  ...parameters: readonly SqlParameter[]
): Promise<readonly SqlRow[]> {
  return client.select(sql(text, ...parameters), 'writer');
}
