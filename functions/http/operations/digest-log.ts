import type { HttpOperation } from './operation.ts';
import { pathShard, readRole } from '../request.ts';

/** GET /shards/{shard}/digest: the digest of a shard's log up to a place. */
export const digestLog: HttpOperation = async (request, deployment) => {
  const shard = pathShard(request);
  const query = request.query({ once: ['at', 'after', 'digest', 'read'] });
  const range = {
    shard,
    at: query.integer('at', 0, Number.MAX_SAFE_INTEGER),
    after: query.integer('after', 0, Number.MAX_SAFE_INTEGER),
    digest: query.text('digest'),
  };
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: await datastore.digest(range, { read: readRole(query) }) };
};
