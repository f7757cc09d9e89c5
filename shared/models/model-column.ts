import type { Json, Cell } from '../cell.ts';
import type { Confirmed } from '../confirmed.ts';
import type { FieldTypes } from '../client/declared-index.ts';
import type { StandardSchema } from '../client/standard-schema.ts';
import type { ModelDatastore } from './declaration.ts';
import type { SchemalessError } from '../errors.ts';

export interface ModelColumn {
  readonly datastore: ModelDatastore;
  readonly row_key: string;
  readonly name: string;
  readonly column_name: string;
  readonly validator: StandardSchema | null;
  /** Members that may not change once set. */
  readonly readonlyFields: FieldTypes;
}

export interface SaveOptions {
  /** Applies the changes to a version written since. @default false: throws `version_conflict` */
  readonly rebase?: boolean;
}

/** Members that change; undefined removes one. */
export type Changes<Body> = { readonly [Member in keyof Body]?: Body[Member] | undefined };

export interface CellJson {
  /** Its added id, the cursor of `fetchLatestCells`. */
  readonly added_id: number | null;
  readonly uuid: string;
  readonly created_at: string | null;
  readonly column_name: string;
  readonly ref_key: number | null;
  readonly body: Json;
}

export interface Members {
  readonly [member: string]: Json;
}

export interface MemberChanges {
  readonly [member: string]: Json | undefined;
}

export function merged(body: Members, changes: MemberChanges): Members {
  const all = Object.entries({ ...body, ...changes }).filter((pair): pair is [string, Json] => pair[1] !== undefined);
  return Object.fromEntries(all);
}

export function unsaved(changes: MemberChanges, saved: MemberChanges): MemberChanges {
  return Object.fromEntries(
    Object.entries(changes).filter(([member, value]) => !Object.hasOwn(saved, member) || saved[member] !== value),
  );
}

export interface StoredVersion {
  readonly ref_key: number;
  readonly body: Json;
  /** Null while it is buffered: not in the log yet. */
  readonly added_id: number | null;
  readonly created_at: string | null;
  readonly error?: SchemalessError | undefined;
}

/** Returns a cell as a version, with an empty body if it was erased. */
export function storedVersion({ ref_key, body, added_id, created_at, erased, error }: Cell): StoredVersion {
  return { ref_key, body: erased === true ? {} : body, added_id, created_at, error };
}

export function versionOf(ref_key: number, body: Json, result: Confirmed): StoredVersion {
  if (result.outcome === 'buffered') return { ref_key, body, added_id: null, created_at: null };
  return { ref_key, body, added_id: result.added_id, created_at: result.created_at ?? null };
}
