import type { CellAddress, PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Answer } from '../answer.ts';
import { pathAddress } from '../path.ts';
import type { HttpOperation } from './operation.ts';
import { readPutOptions } from './put-options.ts';

/** PUT /cells/{row_key}/{column_name}/{ref_key}: the request body is the cell's JSON. */
export const putCell: HttpOperation = async (request, deployment) => {
  const options = readPutOptions(request);
  const address = pathAddress(request);
  const body = request.json();
  const datastore = await deployment.datastore(request.path('datastore'));
  return answerPut(address, await datastore.put({ ...address, body }, options));
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
    case 'unavailable': {
      const more = { outcome: 'unavailable', shard: result.shard };
      throw new SchemalessError('unavailable', `Not confirmed, repeat it: ${result.reason}`, { address, more });
    }
    default:
      return result satisfies never;
  }
}

const STATUS = { stored: 201, stored_before: 200, buffered: 202 } as const;
