import { parseKey } from '../../../shared/address.ts';
import { LIMITS } from '../../../shared/cell.ts';
import { readItems, readMembers } from '../members.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';
import { readRole, readSealed } from '../request.ts';

/** POST /batch-get `{keys: […]}`: cells, or latest cells, in the order asked for; null where there is none. */
export const batchGet: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['read', 'sealed'] });
  const [read, sealed] = [readRole(query), readSealed(query)];
  const { keys } = readMembers(request.json(), ['keys']);
  const parsed = readItems(
    keys,
    'keys',
    LIMITS.batchCells,
    ['row_key', 'column_name', 'ref_key', 'min_added_id'],
    parseKey,
  );
  const datastore = await deployment.datastore(request.path('datastore'));
  const { packed } = request;
  const cells = await datastore.batchGet(parsed, { read, packed, sealed });
  return { status: 200, body: { cells: shownItems(cells) }, packed };
};
