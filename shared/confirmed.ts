import type { CellAddress, PutResult } from './cell.ts';
import { SchemalessError, type ErrorDetails } from './errors.ts';

/** The result of a write that is stored, or will be. */
export type Confirmed = Extract<PutResult, { readonly outcome: 'stored' | 'stored_before' | 'buffered' }>;

/** Returns a confirmed result. Throws SchemalessError, with the address, for any other. */
export function confirmed<Result extends PutResult>(address: CellAddress, result: Result): Result & Confirmed {
  const refusal = refusalOf(address, result);
  if (refusal !== undefined) throw refusal;
  return result as Result & Confirmed;
}

/** Returns why a cell is not stored, or not known to be; undefined if it is, or will be. */
export function refusalOf(
  { row_key, column_name, ref_key }: CellAddress,
  result: PutResult,
): SchemalessError | undefined {
  const { outcome, shard } = result;
  const at = `${row_key}, ${column_name}, ${ref_key}`;
  const detailsOf = (more: object = {}): ErrorDetails => ({
    address: { row_key, column_name, ref_key },
    more: { outcome, shard, ...more },
  });
  switch (result.outcome) {
    case 'conflict': {
      const { added_id } = result;
      return new SchemalessError('conflict', `Another body is at ${at}; nothing was changed`, detailsOf({ added_id }));
    }
    case 'erased':
      return new SchemalessError('erased', `${at} was erased for good; nothing was changed`, {
        ...detailsOf(),
        status: 409,
      });
    case 'subject_forgotten': {
      const { field } = result;
      return new SchemalessError('subject_forgotten', ofForgotten(field), { ...detailsOf(), field });
    }
    case 'unavailable':
      return new SchemalessError('unavailable', `Not confirmed, repeat it: ${result.reason}`, detailsOf());
    default:
      return undefined;
  }
}

export function ofForgotten(field: string): string {
  return `${field} names a subject that was forgotten for good, under whose key fields are sealed; nothing was changed`;
}
