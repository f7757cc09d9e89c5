import { hash } from 'node:crypto';
import type { StoredLogEntry } from '../sql/statements/select-log-entries.ts';

/** Bytes of a fingerprint: a chance of 2^-64 that another cell goes unnoticed. */
export const FINGERPRINT_BYTES = 8;

/** Stands for a fingerprint that is not known yet: the cell at the offset gives it when it is next read. */
export const UNKNOWN_FINGERPRINT = '0'.repeat(FINGERPRINT_BYTES * 2);

/**
 * Tells a cell from any other that might take its added id. `created_at` is part of it, in microseconds: the same cell
 * appended again, after its log was cut, has another, unless it was restored both times.
 */
export function fingerprintOf({ row_key, column_name, ref_key, created_at }: StoredLogEntry): string {
  return hash('sha256', `${row_key} ${created_at} ${ref_key} ${column_name}`, 'hex').slice(0, FINGERPRINT_BYTES * 2);
}
