import { LIMITS } from '../../../shared/cell.ts';
import { READ_NAMES, readLimit, readOptions, pathColumn } from '../request.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';

/** GET /cells/{row_key}/{column_name}/versions: the cells of one column, newest first or oldest first. */
export const listVersions: HttpOperation = async (request, deployment) => {
  const key = pathColumn(request);
  const query = request.query({ once: ['limit', 'order', 'after', ...READ_NAMES] });
  const options = {
    limit: readLimit(query),
    order: query.choice('order', ['desc', 'asc']),
    after: query.integer('after', 0, LIMITS.refKey),
    ...readOptions(request, query),
  };
  const datastore = await deployment.datastore(request.path('datastore'));
  const { cells, next, served_by, stale } = await datastore.versions(key, options);
  return { status: 200, body: { cells: shownItems(cells), next, served_by, stale }, packed: request.packed };
};
