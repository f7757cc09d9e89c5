import { SchemalessError } from '../../../shared/errors.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import type { LookUpKey } from '../../../shared/store/look-ups.ts';
import type { Answer } from '../answer.ts';
import { READ_NAMES, readOptions, pathAddress, pathColumn } from '../request.ts';
import type { HttpOperation } from './operation.ts';
import type { ReadsTogether } from './reads-together.ts';

/** GET /cells/{row_key}/{column_name}/{ref_key}: one cell. */
export const getCell: HttpOperation = async (request, deployment) => {
  const address = pathAddress(request);
  const options = readOptions(request, request.query({ once: READ_NAMES }));
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerFound(address, await datastore.get(address, options), request.packed);
};

/** GET /cells/{row_key}/{column_name}: the latest cell of the column. */
export const getLatestCell: HttpOperation = async (request, deployment) => {
  const key = pathColumn(request);
  const options = readOptions(request, request.query({ once: READ_NAMES }));
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerFound(key, await datastore.getLatest(key, options), request.packed);
};

export const cellsTogether: ReadsTogether = {
  keyOf: { getCell: pathAddress, getLatestCell: pathColumn },
  async answer(keys, request, deployment, tell) {
    const options = readOptions(request, request.query({ once: READ_NAMES }));
    const datastore = await deployment.datastore(request.path('datastore'));
    await datastore.findEach(keys, options, (position, found) =>
      tell(position, () => {
        if ('error' in found) throw found.error;
        return answerFound(keys[position] as LookUpKey, found, request.packed);
      }),
    );
  },
};

function answerFound(address: LookUpKey, found: Found, packed: boolean): Answer {
  const { cell, served_by, stale, erasure, why, rule } = found;
  if (cell?.erased === true)
    throw new SchemalessError(
      'erased',
      `The cell at ${cell.row_key}, ${cell.column_name}, ${cell.ref_key} was erased`,
      {
        more: { cell, served_by, stale, ...(erasure && { erasure }), ...(why && { why }), ...(rule && { rule }) },
      },
    );
  if (cell !== null) return { status: 200, body: { ...cell, served_by, stale }, packed };
  const { row_key, column_name, ref_key } = address;
  const where = ref_key === undefined ? `${row_key}, ${column_name}` : `${row_key}, ${column_name}, ${ref_key}`;
  const doubt = stale ? '; the answer may be behind: ask again, of the writer' : '';
  throw new SchemalessError('cell_not_found', `No cell at ${where}${doubt}`, {
    more: { address, served_by, stale, ...(stale && { retry: 'later' }) },
  });
}
