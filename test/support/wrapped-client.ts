import type { SqlClient, SqlTransactions } from '../../shared/sql/client.ts';

/**
 * Returns a wrapped client. If `wrap` replaces the changes but not the transactions, the client has no transactions, so
 * that no change bypasses the wrapper.
 */
export function wrapped(client: SqlClient, wrap: (client: SqlClient) => SqlClient): SqlClient {
  const { transactions, ...singly } = wrap(client);
  if (!transactions || (singly.change !== client.change && transactions === client.transactions)) return singly;
  return { ...singly, transactions };
}

export function transactionsOf({ transactions }: SqlClient): SqlTransactions {
  if (!transactions) throw new Error('wanted transactions');
  return transactions;
}

/** Returns a client whose transactions run by a function. */
export function withTransactions(client: SqlClient, run: SqlTransactions['run']): SqlClient {
  return { ...client, transactions: { ...transactionsOf(client), run } };
}
