import type { BATCH_GET } from '../../../shared/api/batches.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { shownItems } from '../answer.ts';
import type { Answers } from '../answering.ts';

export const GET_MANY: Answers<typeof BATCH_GET, Deployment> = {
  async batchGet({ datastore, keys, read, sealed }, { packed }, deployment) {
    const cells = await (await deployment.datastore(datastore)).batchGet(keys, { read, packed, sealed });
    return { status: 200, body: { cells: shownItems(cells) }, packed };
  },
};
