import { LIMITS } from '../cell.ts';
import { parseColumnName } from '../address.ts';
import { FIELD_TYPES } from '../definitions/definitions.ts';
import type { FieldValue } from '../definitions/field-value.ts';
import { invalidField } from '../errors.ts';
import { CELL as CELL_SHAPE, FAILED_ITEM, PROGRESS } from './cell-shapes.ts';
import { CONDITIONS, REQUIRED_CONDITIONS } from './condition.ts';
import { BODY, CELL, SERVED as BY_WRITER } from './examples.ts';
import { operations, type Methods } from './operation.ts';
import { digits, flag, parameter, textParameter, type Parameter } from './parameter.ts';
import { afterText, LIMIT, READ, READERS } from './query.ts';
import {
  always,
  COUNT,
  either,
  FLAG,
  list,
  mapOf,
  named,
  nextOf,
  object,
  oneOf,
  optional,
  orNull,
  described,
  shape,
  TEXT,
  type Of,
} from './shape.ts';
import { COLUMN_NAME, ROW_KEY, SERVED, SHARD, TIME } from './words.ts';

const OF_INDEXES = { method: 'GET', handler: 'query-index', mayCall: READERS } as const;

/** A field whose values had another type, as the repair found them. */
const MISTYPED = object({
  field: TEXT,
  rows: shape<number>({
    type: 'integer',
    minimum: 1,
    description:
      "How often the repair found the field with another type in a row's latest cell, since this definition was listed. It checks a row some seconds after each write to it, and a build checks each row once. A row that is written again is counted again, and one that was fixed stays counted. A run that dies loses a few seconds of the count.",
  }),
  row_key: described(ROW_KEY, 'The last such row.'),
  at: described(TIME, 'When it was found, which shows whether this still happens.'),
});

/** An index as operators see it. */
const INDEX_STATUS = named(
  'IndexStatus',
  object({
    index: TEXT,
    table: described(TEXT, 'Its table in the database of each shard.'),
    state: described(
      oneOf('building', 'live', 'changing'),
      '`building`: answers no query yet. `changing`: the old definition answers while the new one is built.',
    ),
    fields: described(
      list(
        object({
          field: TEXT,
          type: oneOf(...FIELD_TYPES),
          column_key: COLUMN_NAME,
          sealed: described(optional(always(true)), 'Present if its values are sealed: only equality finds them.'),
        }),
      ),
      'The first is the shard field.',
    ),
    keys: described(list(list(TEXT)), 'Keys in addition to that of each field, each after the shard field.'),
    progress: described(PROGRESS, 'Of the build under way; null if there is none, or while unknown.'),
    lag: described(orNull(COUNT), 'Cells that the repair is behind the logs; null while unknown.'),
    largest_share: described(
      orNull(shape<number>({ type: 'number', minimum: 0, maximum: 1 })),
      "The largest shard's share of all entries: far above 1 / shards, the shard field distributes badly. Null while unknown.",
    ),
    mistyped: described(
      list(MISTYPED),
      'Fields with values of another type than `fields` says: such a value counts as null, and in the shard field the row has no entry. Empty if all fit.',
    ),
  }),
);
export type IndexStatus = Of<typeof INDEX_STATUS>;

const ENTRY = named(
  'IndexEntry',
  object({
    row_key: ROW_KEY,
    fields: described(
      mapOf(
        named(
          'FieldValue',
          shape<FieldValue>({
            type: ['string', 'number', 'boolean', 'null'],
            description:
              'A UUID in lower case, a time in UTC with six decimals; null if the row has no value of the type.',
          }),
        ),
      ),
      'The requested fields, by their names in the definition; null if sealed.',
    ),
    cells: described(
      optional(either(list(CELL_SHAPE), FAILED_ITEM)),
      'Present if columns were requested: the latest cells of the row, or why they could not be read.',
    ),
  }),
);

const EXPLANATION = named(
  'Explanation',
  object({
    shard: SHARD,
    group: TEXT,
    statement: TEXT,
    plan: shape<unknown>({ description: 'From the database, in the form of its engine.' }),
  }),
);
export type Explanation = Of<typeof EXPLANATION>;

const ANSWER = named(
  'IndexAnswer',
  object({
    entries: list(ENTRY),
    next: nextOf(TEXT),
    ...SERVED,
    explain: optional(EXPLANATION),
  }),
);

const COUNTED = named(
  'IndexCounted',
  object({
    count: described(COUNT, 'Entries that meet all conditions, `limit` at most.'),
    complete: described(FLAG, 'False: there are more than `count`.'),
    ...SERVED,
  }),
);
export type IndexCounted = Of<typeof COUNTED>;

const FIELDS: Parameter<readonly string[]> = {
  ...parameter(
    list(TEXT),
    {
      description: 'Only these fields, separated by commas. All if omitted.',
      example: ['city', 'fare.total'],
    },
    (text) => (text === '' ? [] : text.split(',')),
  ),
  isJoined: true,
};

const CELLS_OF: Parameter<readonly string[] | '*'> = {
  describe: list(COLUMN_NAME).describe,
  description: 'Return the latest cell of this column with each row; may be repeated, or `*` for all. None if omitted.',
  example: ['BASE'],
  isOptional: true,
  isRepeated: true,
  read(names, field) {
    if (!names.includes('*')) return names.map((name) => parseColumnName(name, field));
    if (names.length > 1) throw invalidField(field, '`*` alone, or names of columns', names.join(', '));
    return '*';
  },
};

const OF_QUERY = ['missing_field', 'index_building', 'overloaded', 'no_root_key'] as const;

const STATUS_EXAMPLE = {
  index: 'driver_partner_index',
  table: 'driver_partner_index_1a2b3c4d',
  state: 'live',
  fields: [
    { field: 'driver_partner_uuid', type: 'UUID', column_key: 'BASE' },
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'fare.total', type: 'number', column_key: 'BASE' },
  ],
  keys: [['city', 'fare.total']],
  progress: null,
  lag: 0,
  largest_share: 0.0041,
  mistyped: [{ field: 'fare.total', rows: 3, row_key: CELL.row_key, at: '2026-01-31T08:00:00.000Z' }],
} as const;

const ENTRY_EXAMPLE = {
  row_key: CELL.row_key,
  fields: { driver_partner_uuid: BODY.driver_partner_uuid, city: BODY.city, 'fare.total': BODY.fare.total },
  cells: [CELL],
} as const;

export const INDEX_LISTS = operations({
  listIndexes: {
    ...OF_INDEXES,
    path: '/v1/{datastore}/indexes',
    summary: 'List the indexes',
    more: 'Definitions, states, the progress of builds, the lag of the repair, and fields with values of another type, as of now.',
    answers: {
      200: {
        means: 'Every index, by name.',
        body: object({ indexes: list(INDEX_STATUS) }),
        example: { indexes: [STATUS_EXAMPLE] },
      },
    },
  },
});

export const QUERIES = operations({
  queryIndex: {
    ...OF_INDEXES,
    path: '/v1/{datastore}/indexes/{index}',
    summary: 'Find rows by their fields, or see one index',
    more:
      'With parameters, a query of one shard: that of the value of the shard field. Without any, the status of the index. ' +
      'A query that needs a definition that is still being built gets `index_building` with its progress. ' +
      'A parameter that is not listed below is a condition on the field of that name. Gateways accept a request line and headers of some 10 KB in all.',
    where: CONDITIONS,
    query: {
      fields: FIELDS,
      column: CELLS_OF,
      order: textParameter(TEXT, {
        description: 'By this field, absent values first; with `-` before it, in reverse. By row key if omitted.',
        example: '-fare.total',
      }),
      ...LIMIT,
      ...afterText(
        'WyJMaXNib24iLCI2ZTNhMGY5Yy0uLi4iLCIuLi4iXQ',
        'Continue from `next` of an answer to this same query.',
      ),
      ...READ,
      explain: flag('Add the statement, where it ran, and its plan.'),
    },
    answers: {
      200: {
        means: 'The entries that meet all conditions, in order; or the status.',
        body: either(ANSWER, INDEX_STATUS),
        example: { entries: [ENTRY_EXAMPLE], next: null, ...BY_WRITER },
      },
    },
    bodies: true,
    errors: OF_QUERY,
  },
  countEntries: {
    ...OF_INDEXES,
    path: '/v1/{datastore}/indexes/{index}/count',
    summary: 'Count the rows that a query finds',
    more: 'Counts up to `limit`. Takes the conditions of a query, and reads one shard: that of the value of the shard field.',
    where: REQUIRED_CONDITIONS,
    query: {
      limit: digits(
        shape({ type: 'integer', minimum: 1, maximum: LIMITS.countedEntries, default: LIMITS.countedEntries }),
        [1, LIMITS.countedEntries],
        { description: 'The highest count.', example: 1000 },
      ),
      ...READ,
    },
    answers: {
      200: {
        means: 'The count, and whether it is complete.',
        body: COUNTED,
        example: { count: 31, complete: true, ...BY_WRITER },
      },
    },
    errors: OF_QUERY,
  },
});

/** The state of a datastore's indexes. */
export interface IndexOperations extends Methods<typeof INDEX_LISTS> {
  /** Returns the status that `queryIndex` answers without parameters. Throws `unknown_index`. */
  getIndex(name: string): Promise<IndexStatus>;
}
