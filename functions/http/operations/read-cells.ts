import { CELL_READS } from '../../../shared/api/cells.ts';
import type { Role } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Found, Page, StoreReadOptions } from '../../../shared/contract/datastore.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { LookUpKey } from '../../../shared/store/look-ups.ts';
import { shownItems, type Answer } from '../answer.ts';
import { pathReader, queryReader, type Answers } from '../answering.ts';
import type { HttpRequest } from '../request.ts';
import type { BatchedReads } from './batched-reads.ts';

/** Reads of one cell, one column, one row. */
export const CELLS: Answers<typeof CELL_READS, Deployment> = {
  async getCell({ datastore, row_key, column_name, ref_key, ...asked }, request, deployment) {
    const address = { row_key, column_name, ref_key };
    const found = await (await deployment.datastore(datastore)).get(address, optionsOf(asked, request));
    return answerFound(address, found, request.packed);
  },
  async getLatestCell({ datastore, row_key, column_name, ...asked }, request, deployment) {
    const key = { row_key, column_name };
    const found = await (await deployment.datastore(datastore)).getLatest(key, optionsOf(asked, request));
    return answerFound(key, found, request.packed);
  },
  async listVersions({ datastore, row_key, column_name, limit, order, after, ...asked }, request, deployment) {
    const options = { limit, order, after, ...optionsOf(asked, request) };
    return answerPage(
      await (await deployment.datastore(datastore)).versions({ row_key, column_name }, options),
      request,
    );
  },
  async getRow({ datastore, row_key, column, after, ...asked }, request, deployment) {
    const options = { columns: column, after, ...optionsOf(asked, request) };
    return answerPage(await (await deployment.datastore(datastore)).row(row_key, options), request);
  },
};

interface Asked {
  readonly read?: Role | undefined;
  readonly min_added_id?: number | undefined;
  readonly sealed?: boolean | undefined;
}

/** Returns the role to read, the added id that it must have, and the room for the answer. */
function optionsOf({ read, min_added_id, sealed }: Asked, { room, packed }: HttpRequest): StoreReadOptions {
  return { room, packed, read, min_added_id, sealed };
}

const OF_ALL = queryReader(CELL_READS.getCell);
const keyOf = (operation: keyof typeof CELL_READS): ((read: Pick<HttpRequest, 'path'>) => LookUpKey) => {
  const read = pathReader(CELL_READS[operation]);
  return (request) => {
    const { row_key, column_name, ref_key } = read(request);
    return { row_key, column_name, ref_key } as unknown as LookUpKey;
  };
};

export const CELLS_BATCHED: BatchedReads = {
  keyOf: { getCell: keyOf('getCell'), getLatestCell: keyOf('getLatestCell') },
  async answer(keys, request, deployment, tell) {
    const options = optionsOf(OF_ALL(request), request);
    const datastore = await deployment.datastore(request.path('datastore'));
    await datastore.findEach(keys, options, (position, found) =>
      tell(position, () => {
        if ('error' in found) throw found.error;
        return answerFound(keys[position] as LookUpKey, found, request.packed);
      }),
    );
  },
};

function answerPage({ cells, next, served_by, stale }: Page<unknown>, { packed }: HttpRequest): Answer {
  return { status: 200, body: { cells: shownItems(cells), next, served_by, stale }, packed };
}

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
  const suspicion = stale ? '; the answer may be behind: ask again, of the writer' : '';
  throw new SchemalessError('cell_not_found', `No cell at ${where}${suspicion}`, {
    more: { address, served_by, stale, ...(stale && { retry: 'later' }) },
  });
}
