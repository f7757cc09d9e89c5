import type { SqlClient } from '../../shared/sql/client.ts';

/** A client as something stands before it. Where that is its changes, there are no transactions: none is to get past it. */
export function wrapped(client: SqlClient, wrap: (client: SqlClient) => SqlClient): SqlClient {
  const { transactions, ...singly } = wrap(client);
  return transactions && singly.change === client.change ? { ...singly, transactions } : singly;
}
