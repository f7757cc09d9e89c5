import type { Json } from '../cell.ts';
import type { FieldTypes } from '../client/declared-index.ts';
import type { StandardSchema } from '../client/standard-schema.ts';
import type { ModelDatastore } from './declaration.ts';

export interface ModelColumn {
  readonly datastore: ModelDatastore;
  readonly row_key: string;
  readonly name: string;
  readonly column_name: string;
  readonly validator: StandardSchema | null;
  /** Members that may not change once they are there. */
  readonly readonlyFields: FieldTypes;
}

export interface SaveOptions {
  /** Puts the changes on top of a version written meanwhile. @default false: throws `version_conflict` */
  readonly rebase?: boolean;
}

/** Members that change; undefined takes one away. */
export type Changes<Body> = { readonly [Member in keyof Body]?: Body[Member] | undefined };

export interface CellJson {
  /** Its added id, the cursor of `fetchLatestCells`. */
  readonly id: number | null;
  readonly uuid: string;
  readonly created_at: string | null;
  readonly column_name: string;
  readonly ref_key: number | null;
  readonly body: Json;
}
