import { createHash } from 'node:crypto';
import { invalidField } from '../errors.ts';
import type { FieldValue } from './field-value.ts';

/**
 * The entry that a page ended with: the value it was ordered by (null, too) and its row key. A place in the order, not
 * a count, so that it stays right while rows are written.
 */
export interface CursorPlace {
  readonly value: FieldValue;
  readonly row_key: string;
}

/** Opaque to clients; holds for the same query alone. */
export function encodeCursor(place: CursorPlace, identity: string): string {
  const value = typeof place.value === 'bigint' ? { integer: place.value.toString() } : place.value;
  return Buffer.from(JSON.stringify([value, place.row_key, fingerprint(identity)])).toString('base64url');
}

/** Throws `invalid_field` for what is no cursor, or one of another query. */
export function decodeCursor(cursor: string, identity: string): CursorPlace {
  const wanted = '`next` of an answer to this same query';
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw invalidField('cursor', wanted, cursor);
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) throw invalidField('cursor', wanted, cursor);
  const [value, row_key, mark] = parsed as unknown[];
  if (typeof row_key !== 'string' || !/^[0-9a-f-]{36}$/.test(row_key) || mark !== fingerprint(identity)) throw invalidField('cursor', wanted, cursor);
  if (typeof value === 'object' && value !== null) {
    const { integer } = value as { readonly integer?: unknown };
    if (typeof integer !== 'string' || !/^-?\d{1,20}$/.test(integer)) throw invalidField('cursor', wanted, cursor);
    return { value: BigInt(integer), row_key };
  }
  if (value !== null && typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw invalidField('cursor', wanted, cursor);
  return { value, row_key };
}

function fingerprint(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 12);
}
