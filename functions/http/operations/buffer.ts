import { LIMITS } from '../../../shared/cell.ts';
import { invalidField } from '../../../shared/errors.ts';
import { readArray, readMembers } from '../members.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';
import { readLimit } from '../request.ts';

/** GET /buffer: what waits in each group's buffer table for other primaries. */
export const getBuffer: HttpOperation = async (request, deployment) => {
  request.query();
  const datastore = await deployment.datastore(request.path('datastore'));
  const groups = await datastore.buffer();
  return { status: 200, body: { groups: shownItems(groups) } };
};

/** GET /buffer/conflicts: buffered writes that lost against another body at their address. */
export const listBufferConflicts: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['limit', 'after'] });
  const options = { limit: readLimit(query), after: query.text('after') };
  const datastore = await deployment.datastore(request.path('datastore'));
  const { conflicts, next } = await datastore.bufferConflicts(options);
  return { status: 200, body: { conflicts, next } };
};

/** POST /buffer/conflicts/discard `{ids: […]}`: deletes kept conflicts for good. */
export const discardBufferConflicts: HttpOperation = async (request, deployment) => {
  const ids = readIds(request, LIMITS.listCells, 'the id of a kept conflict, as GET /buffer/conflicts lists it');
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: { discarded: await datastore.discardConflicts(ids) } };
};

/** GET /buffer/undecided: bodies for one address that may both have been acknowledged. */
export const listUndecidedWrites: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['limit', 'after'] });
  const options = { limit: readLimit(query), after: query.text('after') };
  const datastore = await deployment.datastore(request.path('datastore'));
  const { undecided, next } = await datastore.undecidedWrites(options);
  return { status: 200, body: { undecided, next } };
};

/** POST /buffer/undecided/keep `{ids: […]}`: says which of them are stored. */
export const keepUndecidedWrites: HttpOperation = async (request, deployment) => {
  const ids = readIds(request, LIMITS.batchCells, 'the id of an undecided write, as GET /buffer/undecided lists it');
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: { kept: await datastore.keepUndecided(ids) } };
};

/** @param wanted what an id has to be */
function readIds(request: Parameters<HttpOperation>[0], most: number, wanted: string): readonly string[] {
  request.query();
  const { ids } = readMembers(request.json(), ['ids']);
  return readArray(ids, 'ids', most).map((id, position) => {
    if (typeof id !== 'string' || id === '') throw invalidField(`ids[${position}]`, wanted, id);
    return id;
  });
}
