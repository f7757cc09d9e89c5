import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';
import { readRole } from '../request.ts';

/** GET /shards: every shard with its group and the added id of its last cell. */
export const listShards: HttpOperation = async (request, deployment) => {
  const read = readRole(request.query({ once: ['read'] }));
  const datastore = await deployment.datastore(request.path('datastore'));
  const heads = await datastore.heads({ read });
  return { status: 200, body: { shards: shownItems(heads) } };
};
