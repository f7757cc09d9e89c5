import { BATCH_WRITES } from '../shared/api/batches.ts';
import { BUFFER_CHANGES } from '../shared/api/buffer.ts';
import { PUT_CELL } from '../shared/api/cells.ts';
import { TRANSACTIONS } from '../shared/api/transactions.ts';
import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { BATCHES } from './http/operations/batch-put.ts';
import { PUT } from './http/operations/put-cell.ts';
import { TRANSACT } from './http/operations/transact-row.ts';

export function makeWriteHandler(open: () => Deployment): HttpHandler {
  const buffer = answeredBy(BUFFER_CHANGES, (over: Deployment, datastore) => over.datastore(datastore));
  return httpHandler(
    { ...PUT_CELL, ...TRANSACTIONS, ...BATCH_WRITES, ...BUFFER_CHANGES },
    { ...PUT, ...TRANSACT, ...BATCHES, ...buffer },
    open,
  );
}

export const handler = makeWriteHandler(deployment);
