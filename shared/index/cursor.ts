import { createHash } from 'node:crypto';
import type { Json } from '../cell.ts';
import type { FieldType } from '../definitions/definitions.ts';
import { invalidField, type SchemalessError } from '../errors.ts';
import { toFieldValue, type FieldValue } from '../definitions/field-value.ts';

/** The entry that a page ended with: its ordering value and row key. It stays right while rows are written. */
export interface CursorPosition {
  readonly value: FieldValue;
  readonly row_key: string;
}

export function encodeCursor(position: CursorPosition, identity: string): string {
  const value = typeof position.value === 'bigint' ? { integer: position.value.toString() } : position.value;
  return Buffer.from(JSON.stringify([value, position.row_key, fingerprint(identity)])).toString('base64url');
}

interface CursorUse {
  readonly identity: string;
  readonly type: FieldType | undefined;
}

/** Throws `invalid_field` for anything but a cursor of this query with a value of its type. */
export function decodeCursor(cursor: string, { identity, type }: CursorUse): CursorPosition {
  const refuse = (): SchemalessError => invalidField('after', '`next` of an answer to this same query', cursor);
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw refuse();
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) throw refuse();
  const [written, row_key, mark] = parsed as unknown[];
  if (typeof row_key !== 'string' || toFieldValue(row_key, 'UUID') !== row_key || mark !== fingerprint(identity))
    throw refuse();
  const value = written === null ? null : type && toFieldValue(readValue(written), type);
  if (value === undefined || value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) throw refuse();
  return { value, row_key };
}

function readValue(written: unknown): Json {
  const { integer } = (written ?? {}) as { readonly integer?: unknown };
  return typeof integer === 'string' && /^-?\d{1,20}$/.test(integer) ? BigInt(integer) : (written as Json);
}

function fingerprint(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 12);
}
