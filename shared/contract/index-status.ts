import type { FieldType } from '../definitions/definitions.ts';

/** An index as operators see it. */
export interface IndexStatus {
  readonly index: string;
  /** Of the definition that `fields` is of: its table in the database of each shard. */
  readonly table: string;
  /** `building`: answers nothing yet. `live`. `changing`: the old definition answers while the new one is built. */
  readonly state: 'building' | 'live' | 'changing';
  /** Of the definition that answers, or that is being built where none does. The first is the shard field. */
  readonly fields: readonly {
    readonly field: string;
    readonly type: FieldType;
    readonly column_key: string;
    /** Present (true) where its values are sealed. */
    readonly sealed?: true;
  }[];
  readonly keys: readonly (readonly string[])[];
  /** Cells of the logs that the build has read, of all; null without a build, or before it is known. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** Cells that the repair is behind the logs; null while nobody knows. Entries are kept by the writes themselves. */
  readonly lag: number | null;
  /** The largest shard's share of all entries, 0 to 1: far above 1 / shards, the shard field spreads badly. */
  readonly largest_share: number | null;
  /** Fields with values of another type than `fields` says: they count as null, or the row has no entry. */
  readonly mistyped: readonly MistypedStatus[];
}

/**
 * What the repair came across since this definition was listed: it looks at each row some seconds after a cell of it
 * was written, and a build at each row once. A row that is written again is counted again, and one that was mended
 * stays counted: `at` says whether it still goes on.
 */
interface MistypedStatus {
  readonly field: string;
  /** How often a row's latest cell had the field with another type. */
  readonly rows: number;
  /** The row that was found last. */
  readonly row_key: string;
  /** When that was: RFC 3339, UTC. */
  readonly at: string;
}
