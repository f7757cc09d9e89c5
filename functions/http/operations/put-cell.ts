import { PUT_CELL } from '../../../shared/api/cells.ts';
import { confirmed } from '../../../shared/confirmed.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { answerWith, type Answers } from '../answering.ts';

export const PUT: Answers<typeof PUT_CELL, Deployment> = {
  async putCell({ datastore, body, ...address }, _request, deployment) {
    const store = await deployment.datastore(datastore);
    const { outcome, ...where } = confirmed(address, await store.put({ ...address, body }));
    return { ...answerWith(PUT_CELL.putCell, { outcome, ...address, ...where }), outcomes: [outcome] };
  },
};
