import { LIMITS } from '../cell.ts';
import { PATH_COLUMN_NAME } from './path-column-name.ts';
import { schema, type Schema } from './schema.ts';

interface Parameter {
  readonly schema: Schema;
  readonly description: string;
  readonly example: string | number;
}

/** The parameters in paths, by name. */
export const PATH_PARAMETERS: Readonly<Record<string, Parameter>> = {
  datastore: { schema: { type: 'string' }, description: 'The name of the datastore.', example: 'trips' },
  row_key: { schema: schema('RowKey'), description: 'The row.', example: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0' },
  column_name: {
    schema: { type: 'string', pattern: PATH_COLUMN_NAME },
    description: 'The column. Names of other characters go through `batch-put` and `batch-get`.',
    example: 'BASE',
  },
  ref_key: { schema: schema('RefKey'), description: 'The version, as digits alone.', example: 1 },
  shard: { schema: schema('Shard'), description: 'The number of the shard.', example: 233 },
};

/** The query parameters, by the names that `describe/` gives them. */
export const QUERY_PARAMETERS = {
  read: { name: 'read', schema: { enum: ['writer', 'reader'], default: 'writer' }, description: 'Who is asked first. The writer shows all that was acknowledged as stored; a reader may be behind.', example: 'reader' },
  minAddedId: { name: 'min_added_id', schema: schema('AddedId'), description: "A reader that has not seen this added id of the row's shard is passed over.", example: 17 },
  limit: { name: 'limit', schema: { type: 'integer', minimum: 1, maximum: LIMITS.listCells, default: LIMITS.defaultLimit }, description: `How many items at most. An answer also ends at ${LIMITS.answerBytes} bytes.`, example: 10 },
  order: { name: 'order', schema: { enum: ['desc', 'asc'], default: 'desc' }, description: 'Newest first, or oldest first.', example: 'asc' },
  afterRefKey: { name: 'after', schema: schema('RefKey'), description: 'Go on beyond this ref key.', example: 4 },
  afterColumn: { name: 'after', schema: schema('ColumnName'), description: 'Go on after this column name.', example: 'BASE' },
  afterAddedId: { name: 'after', schema: schema('AddedId'), description: 'Read the cells after this added id; 0 is the start. Either this or `since`.', example: 0 },
  afterConflict: { name: 'after', schema: { type: 'string' }, description: 'Go on after this id.', example: 'group-2/17' },
  since: { name: 'since', schema: schema('Time'), description: 'Read the cells written at this time or later. Either this or `after`.', example: '2026-01-31T08:00:00.000000Z' },
  column: { name: 'column', schema: { type: 'array', items: schema('ColumnName') }, description: 'Only this column; may be repeated. All columns when left out.', example: 'BASE' },
} as const satisfies Record<string, Parameter & { readonly name: string }>;

export type QueryParameter = keyof typeof QUERY_PARAMETERS;
