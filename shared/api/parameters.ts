import { LIMITS, type Json } from '../cell.ts';
import { PATH_COLUMN_NAME } from '../address.ts';
import { DIGEST } from './describe/examples.ts';
import { arrayOf, schema, type Schema } from './schema.ts';

interface Parameter {
  readonly schema: Schema;
  readonly description: string;
  readonly example: Json;
  /** False: a list is one comma-separated value. @default true: a parameter for each */
  readonly explode?: false;
  /** @default false */
  readonly required?: true;
}

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
  index: { schema: { type: 'string' }, description: 'The name of the index.', example: 'driver_partner_index' },
  trigger: { schema: { type: 'string' }, description: 'The name of the trigger.', example: 'bill_rider' },
  erasure: {
    schema: schema('ErasureId'),
    description: 'The id of the record.',
    example: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
  },
};

/** The query parameters, by the names that `describe/` gives them. */
export const QUERY_PARAMETERS = {
  read: {
    name: 'read',
    schema: { enum: ['writer', 'reader'], default: 'writer' },
    description: 'Who is asked first. The writer shows all that was acknowledged as stored; a reader may be behind.',
    example: 'reader',
  },
  minAddedId: {
    name: 'min_added_id',
    schema: schema('AddedId'),
    description: "A reader that has not seen this added id of the row's shard is passed over.",
    example: 17,
  },
  sealed: {
    name: 'sealed',
    schema: { enum: ['true', 'false'], default: 'false' },
    description:
      'Answer sealed fields as they are stored, `{"$sealed": "…"}`, which no key is needed for, and no caller can read. Nothing changes where no field is sealed.',
    example: 'true',
  },
  limit: {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: LIMITS.listCells, default: LIMITS.defaultLimit },
    description: `How many items at most. An answer also ends at ${LIMITS.answerBytes} bytes.`,
    example: 10,
  },
  countLimit: {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: LIMITS.countedEntries, default: LIMITS.countedEntries },
    description: 'How far is counted.',
    example: 1000,
  },
  order: {
    name: 'order',
    schema: { enum: ['desc', 'asc'], default: 'desc' },
    description: 'Newest first, or oldest first.',
    example: 'asc',
  },
  afterRefKey: { name: 'after', schema: schema('RefKey'), description: 'Go on beyond this ref key.', example: 4 },
  afterColumn: {
    name: 'after',
    schema: schema('ColumnName'),
    description: 'Go on after this column name.',
    example: 'BASE',
  },
  afterAddedId: {
    name: 'after',
    schema: schema('AddedId'),
    description: 'Read the cells after this added id; 0 is the start. Either this or `since`.',
    example: 0,
  },
  at: {
    name: 'at',
    schema: schema('AddedId'),
    description: 'Up to this added id; to the last one when left out.',
    example: 17,
  },
  afterDigested: {
    name: 'after',
    schema: schema('AddedId'),
    description: 'Go on after this added id, of which `digest` is; both, or none.',
    example: 0,
  },
  digest: { name: 'digest', schema: schema('Digest'), description: 'The digest at `after`.', example: DIGEST },
  afterConflict: {
    name: 'after',
    schema: { type: 'string' },
    description: 'Go on after this id.',
    example: 'group-2/17',
  },
  afterShard: { name: 'after', schema: schema('Shard'), description: 'Go on after this shard.', example: 99 },
  afterParked: {
    name: 'after',
    schema: { type: 'string' },
    description: 'Go on beyond this place: `next` of the page before.',
    example: '233/17',
  },
  open: {
    name: 'open',
    schema: { enum: ['true', 'false'], default: 'false' },
    description: 'Only those that are not done everywhere yet.',
    example: 'true',
  },
  afterErasure: {
    name: 'after',
    schema: schema('ErasureId'),
    description: 'Go on beyond this id: `next` of the page before.',
    example: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
  },
  afterSubject: {
    name: 'after',
    schema: { type: 'string' },
    description: 'Go on beyond this place: `next` of the page before.',
    example: 'c3ViamVjdCN0cmlwcyMzYjFmNmM',
  },
  since: {
    name: 'since',
    schema: schema('Time'),
    description: 'Read the cells written at this time or later. Either this or `after`.',
    example: '2026-01-31T08:00:00.000000Z',
  },
  column: {
    name: 'column',
    schema: { type: 'array', items: schema('ColumnName') },
    description: 'Only this column; may be repeated. All columns when left out.',
    example: ['BASE', 'STATUS'],
  },
  conditions: {
    name: 'conditions',
    schema: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, arrayOf({ type: 'string' })] } },
    description:
      'Each its own parameter, all to be met: `FIELD=value`, or `FIELD[ne]`, `[lt]`, `[lte]`, `[gt]`, `[gte]` with one value, or `FIELD[in]`, repeated. ' +
      'The shard field, by equality, has to be among them. An absent field meets none, `[ne]` included.',
    example: {
      driver_partner_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10',
      'city[in]': ['Lisbon', 'Porto'],
      'fare.total[gte]': '1000',
    },
  },
  fields: {
    name: 'fields',
    schema: arrayOf({ type: 'string' }),
    explode: false,
    description: 'Only these fields, separated by commas. All when left out.',
    example: ['city', 'fare.total'],
  },
  cellsOf: {
    name: 'column',
    schema: arrayOf(schema('ColumnName')),
    description:
      'Bring the latest cell of this column of each row along; may be repeated, or `*` for all. None when left out.',
    example: ['BASE'],
  },
  orderBy: {
    name: 'order',
    schema: { type: 'string' },
    description: 'By this field, absent ones first; with `-` before it the other way. By row key when left out.',
    example: '-fare.total',
  },
  afterEntry: {
    name: 'after',
    schema: { type: 'string' },
    description: 'Continue from `next` of an answer to this same query.',
    example: 'WyJMaXNib24iLCI2ZTNhMGY5Yy0uLi4iLCIuLi4iXQ',
  },
  dryRun: {
    name: 'dry_run',
    schema: { enum: ['true', 'false'], default: 'false' },
    description: 'Say what would be done, and change nothing.',
    example: 'true',
  },
  confirm: {
    name: 'confirm',
    schema: { type: 'string' },
    description: 'The name of what is deleted, once more.',
    example: 'shop',
    required: true,
  },
  force: {
    name: 'force',
    schema: { enum: ['true', 'false'], default: 'false' },
    description: 'Delete it also where something is lost with it.',
    example: 'false',
  },
  explain: {
    name: 'explain',
    schema: { enum: ['true', 'false'], default: 'false' },
    description: 'Answer also which statement was asked, where, and its plan.',
    example: 'true',
  },
} as const satisfies Record<string, Parameter & { readonly name: string }>;

export type QueryParameter = keyof typeof QUERY_PARAMETERS;
