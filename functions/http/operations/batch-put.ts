import { parseAddress } from '../../../shared/address.ts';
import { LIMITS, type Json, type NewCell, type PutResult, type RestoredCell } from '../../../shared/cell.ts';
import { missingField } from '../../../shared/errors.ts';
import { parseTime } from '../../../shared/time.ts';
import type { Answer } from '../answer.ts';
import { readItems, readMembers, type Members } from '../members.ts';
import type { HttpRequest } from '../request.ts';
import type { HttpOperation } from './operation.ts';

/** What a batch puts around a cell's body: the request, its `cells`, the cell. */
const DEPTH_AROUND = 3;

const MEMBERS = ['row_key', 'column_name', 'ref_key', 'body'] as const;

/** POST /batch-put `{cells: […]}`: outcomes in the same order, each independent of the others. */
export const batchPut: HttpOperation = async (request, deployment) => {
  request.query();
  const cells = readItems(cellsOf(request), 'cells', LIMITS.batchCells, MEMBERS, readCell);
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerBatch(await datastore.batchPut(cells));
};

/** POST /batch-restore: the same for cells that were stored before, each with its `created_at`. */
export const batchRestore: HttpOperation = async (request, deployment) => {
  request.query();
  const cells = readItems(
    cellsOf(request),
    'cells',
    LIMITS.batchCells,
    [...MEMBERS, 'created_at'],
    (members, prefix): RestoredCell => {
      const field = `${prefix}created_at`;
      if (members.created_at === undefined) throw missingField(field, 'when the cell was stored, as in RFC 3339');
      return { ...readCell(members, prefix), created_at: parseTime(members.created_at, field) };
    },
  );
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerBatch(await datastore.batchRestore(cells));
};

function cellsOf(request: HttpRequest): Json | undefined {
  return readMembers(request.json(LIMITS.bodyDepth + DEPTH_AROUND), ['cells']).cells;
}

function readCell(members: Members<(typeof MEMBERS)[number]>, prefix: string): NewCell {
  if (members.body === undefined) throw missingField(`${prefix}body`, 'the JSON of the cell');
  return { ...parseAddress(members, prefix), body: members.body };
}

function answerBatch(results: readonly PutResult[]): Answer {
  return { status: 200, body: { results }, outcomes: results.map(({ outcome }) => outcome) };
}
