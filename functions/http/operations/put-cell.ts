import { PUT_CELL } from '../../../shared/api/cells.ts';
import type { CellAddress, PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import { answerWith, type Answers } from '../answering.ts';

export const PUT: Answers<typeof PUT_CELL, Deployment> = {
  async putCell({ datastore, body, ...address }, _request, deployment) {
    return answerPut(address, await (await deployment.datastore(datastore)).put({ ...address, body }));
  },
};

function answerPut(address: CellAddress, result: PutResult): Answer {
  const { row_key, column_name, ref_key } = address;
  switch (result.outcome) {
    case 'stored':
    case 'stored_before':
    case 'buffered': {
      const { outcome, ...where } = result;
      const body = { outcome, row_key, column_name, ref_key, ...where };
      return { ...answerWith(PUT_CELL.putCell, body), outcomes: [outcome] };
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
