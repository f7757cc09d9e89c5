import { TRANSACTIONS } from '../../../shared/api/transactions.ts';
import type { Cell, RowTransaction, TransactionResult } from '../../../shared/cell.ts';
import { confirmedTransaction } from '../../../shared/confirmed-transaction.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { shownItems, type Answer } from '../answer.ts';
import { answerWith, type Answers } from '../answering.ts';

export const TRANSACT: Answers<typeof TRANSACTIONS, Deployment> = {
  transactRow: transact,
  restoreTransaction: transact,
};

async function transact(
  { datastore, ...transaction }: RowTransaction & { readonly datastore: string },
  _request: unknown,
  deployment: Deployment,
): Promise<Answer> {
  const store = await deployment.datastore(datastore);
  const { row_key } = transaction;
  const { outcome, ...where } = confirmedTransaction(row_key, shown(await store.transact(transaction)));
  return { ...answerWith(TRANSACTIONS.transactRow, { outcome, row_key, ...where }), outcomes: [outcome] };
}

/** Gives errors of latest cells the API's form. */
function shown(result: TransactionResult): TransactionResult {
  if (result.outcome !== 'condition_failed') return result;
  const latest = shownItems(result.failed.map((one) => one.latest)) as readonly (Cell | null)[];
  return { ...result, failed: result.failed.map((one, position) => ({ ...one, latest: latest[position] ?? null })) };
}
