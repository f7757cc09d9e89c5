import type { Cell, Json, PutResult } from '../cell.ts';
import type { SchemalessError } from '../errors.ts';

export interface StoredVersion {
  readonly ref_key: number;
  readonly body: Json;
  /** Null while it is buffered: kept, and not in the log yet. */
  readonly added_id: number | null;
  readonly created_at: string | null;
  readonly error?: SchemalessError | undefined;
}

/** A cell that was read, as a version: of one that was erased an empty body is left. */
export function storedVersion({ ref_key, body, added_id, created_at, erased, error }: Cell): StoredVersion {
  return { ref_key, body: erased === true ? {} : body, added_id, created_at, error };
}

export function versionOf(
  ref_key: number,
  body: Json,
  result: Extract<PutResult, { outcome: 'stored' | 'stored_before' | 'buffered' }>,
): StoredVersion {
  if (result.outcome === 'buffered') return { ref_key, body, added_id: null, created_at: null };
  return { ref_key, body, added_id: result.added_id, created_at: result.created_at ?? null };
}
