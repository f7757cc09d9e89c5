import { LIMITS } from '../../../shared/cell.ts';
import { readConditions } from '../conditions.ts';
import type { HttpOperation } from './operation.ts';
import { readRole } from './read-options.ts';

/** GET /indexes/{index}/count: how many entries meet the conditions, as far as `limit`. */
export const countEntries: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['limit', 'read'], others: true });
  const wanted = {
    index: request.path('index'),
    where: readConditions(query.others),
    limit: query.integer('limit', 1, LIMITS.countedEntries),
    read: readRole(query),
  };
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: await datastore.count(wanted) };
};
