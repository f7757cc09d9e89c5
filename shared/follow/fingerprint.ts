import { hash } from 'node:crypto';
import type { StoredLogEntry } from '../sql/statements/select-log-entries.ts';

/** A chance of 2^-64 that another cell goes unnoticed. */
export const FINGERPRINT_BYTES = 8;

/** The fingerprint is not known yet: the next read of the cell at the offset gives it. */
export const UNKNOWN_FINGERPRINT = '0'.repeat(FINGERPRINT_BYTES * 2);

/** Identifies a cell among all that might take its added id: a cell that is appended again has another `created_at`. */
export function fingerprintOf({ row_key, column_name, ref_key, created_at }: StoredLogEntry): string {
  return hash('sha256', `${row_key} ${created_at} ${ref_key} ${column_name}`, 'hex').slice(0, FINGERPRINT_BYTES * 2);
}
