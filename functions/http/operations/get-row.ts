import { parseColumnName } from '../../../shared/address.ts';
import { READ_NAMES, readOptions, pathRowKey } from '../request.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';

/** GET /rows/{row_key}: the latest cell of each column of a row; of the columns named, or of all. */
export const getRow: HttpOperation = async (request, deployment) => {
  const rowKey = pathRowKey(request);
  const query = request.query({ once: ['after', ...READ_NAMES], repeated: ['column'] });
  const after = query.text('after');
  const options = {
    columns: query.texts('column')?.map((name) => parseColumnName(name, 'column')),
    after: after === undefined ? undefined : parseColumnName(after, 'after'),
    ...readOptions(request, query),
  };
  const datastore = await deployment.datastore(request.path('datastore'));
  const { cells, next, served_by, stale } = await datastore.row(rowKey, options);
  return { status: 200, body: { cells: shownItems(cells), next, served_by, stale }, packed: request.packed };
};
