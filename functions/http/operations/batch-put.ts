import type { BATCH_WRITES } from '../../../shared/api/batches.ts';
import type { PutResult } from '../../../shared/cell.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import type { Answers } from '../answering.ts';

/** Returns outcomes in the order of the cells, each independent of the others. */
export const BATCHES: Answers<typeof BATCH_WRITES, Deployment> = {
  batchPut: async ({ datastore, cells }, _request, deployment) =>
    answerBatch(await (await deployment.datastore(datastore)).batchPut(cells)),
  batchRestore: async ({ datastore, cells }, _request, deployment) =>
    answerBatch(await (await deployment.datastore(datastore)).batchRestore(cells)),
};

function answerBatch(results: readonly PutResult[]): Answer {
  return { status: 200, body: { results }, outcomes: results.map(({ outcome }) => outcome) };
}
