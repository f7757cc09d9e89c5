import { UUID } from './address.ts';
import { missingField, wrongField } from './errors.ts';

/** Longest name of a subject, in bytes of UTF-8. */
const SUBJECT_BYTES = 255;
const WANTED = `a UUID or other string of 1 to ${SUBJECT_BYTES} bytes`;

/**
 * Parses the name of a subject; returns UUIDs in lower case. Throws `invalid_field`, `missing_field`, without the
 * value, since it may name a person.
 */
export function parseSubject(value: unknown, field: string): string {
  if (value === undefined || value === null) throw missingField(field, WANTED);
  if (typeof value !== 'string') throw wrongField(field, WANTED, kindOf(value));
  const bytes = Buffer.byteLength(value);
  if (bytes === 0 || bytes > SUBJECT_BYTES || !value.isWellFormed())
    throw wrongField(field, `${WANTED}, well-formed`, `${bytes} bytes`);
  return UUID.test(value) ? value.toLowerCase() : value;
}

/** Returns the type of a value that messages must not show. */
export function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
