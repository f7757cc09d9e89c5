import { REASON_LENGTH } from '../../shared/api/erasure-schemas.ts';
import type { Json } from '../../shared/cell.ts';
import { invalidField, missingField } from '../../shared/errors.ts';

/** Why something is asked for, of a request's body. Throws `missing_field`, `invalid_field`. */
export function parseReason(value: Json | undefined): string {
  const wanted = `why, in 1 to ${REASON_LENGTH} characters`;
  if (value === undefined) throw missingField('reason', wanted);
  if (typeof value !== 'string' || value.trim() === '' || value.length > REASON_LENGTH || !value.isWellFormed())
    throw invalidField('reason', wanted, value);
  return value;
}
