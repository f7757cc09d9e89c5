import type { SqlClient } from '../../shared/sql/client.ts';

/**
 * A client as something stands before it. Where that is its changes, and not its transactions, there are none of them:
 * no change is to get past it.
 */
export function wrapped(client: SqlClient, wrap: (client: SqlClient) => SqlClient): SqlClient {
  const { transactions, ...singly } = wrap(client);
  if (!transactions || (singly.change !== client.change && transactions === client.transactions)) return singly;
  return { ...singly, transactions };
}
