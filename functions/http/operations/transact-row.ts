import { TRANSACTIONS } from '../../../shared/api/transactions.ts';
import { confirmedTransaction } from '../../../shared/confirmed-transaction.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { answerWith, type Answers } from '../answering.ts';

export const TRANSACT: Answers<typeof TRANSACTIONS, Deployment> = {
  async transactRow({ datastore, ...transaction }, _request, deployment) {
    const store = await deployment.datastore(datastore);
    const { row_key } = transaction;
    const { outcome, ...where } = confirmedTransaction(row_key, await store.transact(transaction));
    return { ...answerWith(TRANSACTIONS.transactRow, { outcome, row_key, ...where }), outcomes: [outcome] };
  },
};
