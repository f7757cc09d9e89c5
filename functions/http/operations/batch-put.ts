import { parseAddress } from '../../../shared/address.ts';
import { LIMITS, type NewCell } from '../../../shared/cell.ts';
import { missingField } from '../../../shared/errors.ts';
import { readItems, readMembers } from '../members.ts';
import type { HttpOperation } from './operation.ts';
import { readPutOptions } from './put-options.ts';

/** What a batch puts around a cell's body: the request, its `cells`, the cell. */
const DEPTH_AROUND = 3;

/** POST /batch-put `{cells: […]}`: outcomes in the same order, each independent of the others. */
export const batchPut: HttpOperation = async (request, deployment) => {
  const options = readPutOptions(request);
  const { cells } = readMembers(request.json(LIMITS.bodyDepth + DEPTH_AROUND), ['cells']);
  const parsed = readItems(
    cells,
    'cells',
    LIMITS.batchCells,
    ['row_key', 'column_name', 'ref_key', 'body'],
    (members, prefix): NewCell => {
      if (members.body === undefined) throw missingField(`${prefix}body`, 'the JSON of the cell');
      return { ...parseAddress(members, prefix), body: members.body };
    },
  );
  const datastore = await deployment.datastore(request.path('datastore'));
  const results = await datastore.batchPut(parsed, options);
  return { status: 200, body: { results }, outcomes: results.map((result) => result.outcome) };
};
