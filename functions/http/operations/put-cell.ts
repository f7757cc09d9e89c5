import type { CellAddress, PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Answer } from '../answer.ts';
import { pathAddress } from '../request.ts';
import type { HttpOperation } from './operation.ts';

/** PUT /cells/{row_key}/{column_name}/{ref_key}: the request body is the cell's JSON. */
export const putCell: HttpOperation = async (request, deployment) => {
  request.query();
  const address = pathAddress(request);
  const body = request.json();
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerPut(address, await datastore.put({ ...address, body }));
};

function answerPut(address: CellAddress, result: PutResult): Answer {
  const { row_key, column_name, ref_key } = address;
  switch (result.outcome) {
    case 'stored':
    case 'stored_before':
    case 'buffered': {
      const { outcome, ...where } = result;
      return {
        status: STATUS[outcome],
        body: { outcome, row_key, column_name, ref_key, ...where },
        outcomes: [outcome],
      };
    }
    case 'conflict': {
      const more = { outcome: 'conflict', shard: result.shard, added_id: result.added_id };
      throw new SchemalessError(
        'conflict',
        `Another body is at ${row_key}, ${column_name}, ${ref_key}; nothing was changed`,
        { address, more },
      );
    }
    case 'erased': {
      const more = { outcome: 'erased', shard: result.shard };
      throw new SchemalessError(
        'erased',
        `${row_key}, ${column_name}, ${ref_key} was erased for good; nothing was changed`,
        { address, more, status: 409 },
      );
    }
    case 'subject_forgotten': {
      const { shard, field } = result;
      throw new SchemalessError(
        'subject_forgotten',
        `${field} names a subject that was forgotten for good, under whose key fields are sealed; nothing was changed`,
        { address, field, more: { outcome: 'subject_forgotten', shard } },
      );
    }
    case 'unavailable': {
      const more = { outcome: 'unavailable', shard: result.shard };
      throw new SchemalessError('unavailable', `Not confirmed, repeat it: ${result.reason}`, { address, more });
    }
    default:
      return result satisfies never;
  }
}

const STATUS = { stored: 201, stored_before: 200, buffered: 202 } as const;
