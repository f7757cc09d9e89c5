import { parseColumnName, parseCount, parseRefKey, parseRowKey } from '../../../shared/address.ts';
import { LIMITS, type CellKey } from '../../../shared/cell.ts';
import { readItems, readMembers } from '../members.ts';
import { shownItems } from '../problem.ts';
import type { HttpOperation } from './operation.ts';
import { readRole } from './read-options.ts';

/** POST /batch-get `{keys: […]}`: cells, or latest cells, in the order asked for; null where there is none. */
export const batchGet: HttpOperation = async (request, deployment) => {
  const read = readRole(request.query({ once: ['read'] }));
  const { keys } = readMembers(request.json(), ['keys']);
  const parsed = readItems(keys, 'keys', LIMITS.batchCells, ['row_key', 'column_name', 'ref_key', 'min_added_id'], (members, prefix): CellKey => {
    const { row_key, column_name, ref_key, min_added_id } = members;
    return {
      row_key: parseRowKey(row_key, `${prefix}row_key`),
      column_name: parseColumnName(column_name, `${prefix}column_name`),
      ref_key: ref_key === undefined ? undefined : parseRefKey(ref_key, `${prefix}ref_key`),
      min_added_id: min_added_id === undefined ? undefined : parseCount(min_added_id, `${prefix}min_added_id`, 0, Number.MAX_SAFE_INTEGER),
    };
  });
  const datastore = await deployment.datastore(request.path('datastore'));
  const cells = await datastore.batchGet(parsed, { read });
  return { status: 200, body: { cells: shownItems(cells) } };
};
