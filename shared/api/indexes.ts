import { LIMITS } from '../cell.ts';
import { parseColumnName } from '../address.ts';
import { FIELD_TYPES } from '../definitions/definitions.ts';
import type { FieldValue } from '../definitions/field-value.ts';
import { invalidField } from '../errors.ts';
import { CELL as CELL_SHAPE, FAILED_ITEM, PROGRESS } from './cell-shapes.ts';
import { CONDITIONS } from './condition.ts';
import { BODY, CELL, SERVED as BY_WRITER } from './examples.ts';
import { operations, type Methods } from './operation.ts';
import { digits, flag, parameter, textParameter, type Parameter } from './parameter.ts';
import { afterText, LIMIT, READ } from './query.ts';
import {
  always,
  COUNT,
  either,
  FLAG,
  list,
  mapOf,
  named,
  object,
  oneOf,
  optional,
  orNull,
  said,
  shape,
  TEXT,
  type Of,
} from './shape.ts';
import { COLUMN_NAME, ROW_KEY, SERVED, SHARD, TIME } from './words.ts';

const READERS = ['readers', 'clients'] as const;

/** How often each field came with another type, as the repair saw it. */
const MISTYPED = object({
  field: TEXT,
  rows: shape<number>({
    type: 'integer',
    minimum: 1,
    description:
      "How often the repair found a row's latest cell to have the field with another type, since this definition was listed. It looks at a row some seconds after each write to it, and a build at each row once: a row that is written again is counted again, and one that was mended stays counted. A run that dies loses a few seconds of it.",
  }),
  row_key: said(ROW_KEY, 'The row that was found last.'),
  at: said(TIME, 'When that was: whether it still goes on.'),
});

/** An index as operators see it. */
const INDEX_STATUS = named(
  'IndexStatus',
  object({
    index: TEXT,
    table: said(TEXT, 'Its table in the database of each shard.'),
    state: said(
      oneOf('building', 'live', 'changing'),
      '`building`: answers nothing yet. `changing`: the old definition answers while the new one is built.',
    ),
    fields: said(
      list(
        object({
          field: TEXT,
          type: oneOf(...FIELD_TYPES),
          column_key: COLUMN_NAME,
          sealed: said(optional(always(true)), 'Only there when its values are sealed: found by equality alone.'),
        }),
      ),
      'The first is the shard field.',
    ),
    keys: said(list(list(TEXT)), 'Keys beside those that each field has, each behind the shard field.'),
    progress: said(PROGRESS, 'Of the build under way; null where there is none, or while nobody knows.'),
    lag: said(orNull(COUNT), 'Cells that the repair is behind the logs; null while nobody knows.'),
    largest_share: said(
      orNull(shape<number>({ type: 'number', minimum: 0, maximum: 1 })),
      "The largest shard's share of all entries: far above 1 / shards, the shard field spreads badly. Null while nobody knows.",
    ),
    mistyped: said(
      list(MISTYPED),
      'Fields that rows have with another type than `fields` says: such a value counts as null, and in the shard field the row has no entry. None when all fit.',
    ),
  }),
);
export type IndexStatus = Of<typeof INDEX_STATUS>;

const ENTRY = named(
  'IndexEntry',
  object({
    row_key: ROW_KEY,
    fields: said(
      mapOf(
        named(
          'FieldValue',
          shape<FieldValue>({
            type: ['string', 'number', 'boolean', 'null'],
            description:
              'A UUID in lower case, a time in UTC with six decimals; null where the row has no value of the type.',
          }),
        ),
      ),
      'The fields asked for, by their names in the definition; null of those that are sealed.',
    ),
    cells: said(
      optional(either(list(CELL_SHAPE), FAILED_ITEM)),
      'Only where columns were asked for: the latest cells that the row has, or why they could not be read.',
    ),
  }),
);

const ANSWER = named(
  'IndexAnswer',
  object({
    entries: list(ENTRY),
    next: said(orNull(TEXT), 'Send it as `after` to go on; null at the end.'),
    ...SERVED,
    explain: optional(
      named(
        'Explanation',
        object({
          shard: SHARD,
          group: TEXT,
          statement: TEXT,
          plan: shape<unknown>({ description: 'As the database explains it; each engine in its own form.' }),
        }),
      ),
    ),
  }),
);

const COUNTED = named(
  'IndexCounted',
  object({
    count: said(COUNT, 'Entries that meet all conditions, `limit` at most.'),
    complete: said(FLAG, 'False: there are more than `count`.'),
    ...SERVED,
  }),
);

const FIELDS: Parameter<readonly string[]> = {
  ...parameter(
    list(TEXT),
    {
      description: 'Only these fields, separated by commas. All when left out.',
      example: ['city', 'fare.total'],
    },
    (text) => (text === '' ? [] : text.split(',')),
  ),
  isJoined: true,
};

const CELLS_OF: Parameter<readonly string[] | '*'> = {
  describe: list(COLUMN_NAME).describe,
  description:
    'Bring the latest cell of this column of each row along; may be repeated, or `*` for all. None when left out.',
  example: ['BASE'],
  isOptional: true,
  isRepeated: true,
  read(names, field) {
    if (!names.includes('*')) return names.map((name) => parseColumnName(name, field));
    if (names.length > 1) throw invalidField(field, '`*` alone, or names of columns', names.join(', '));
    return '*';
  },
};

const OF_QUERY = ['missing_field', 'unknown_index', 'index_building'] as const;

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
    method: 'GET',
    path: '/v1/{datastore}/indexes',
    handler: 'query-index',
    mayCall: READERS,
    summary: 'List the indexes',
    more: 'Definitions, states, the progress of builds, how far the repair is behind, and fields that came with another type; as they are at this moment.',
    answers: {
      200: {
        means: 'Every index, by name.',
        body: object({ indexes: list(INDEX_STATUS) }),
        example: { indexes: [STATUS_EXAMPLE] },
      },
    },
    errors: [],
  },
});

export const QUERIES = operations({
  queryIndex: {
    method: 'GET',
    path: '/v1/{datastore}/indexes/{index}',
    handler: 'query-index',
    mayCall: READERS,
    summary: 'Find rows by their fields, or see one index',
    more:
      'With parameters, a query: it asks one shard, that of the value of the shard field. Without any, the status of the index. ' +
      'A query that only a definition that is still being built can answer gets `index_building` with its progress. ' +
      'A parameter of another name than those below is a condition on the field of that name. Gateways take a request line and headers of some 10 KB in all.',
    where: CONDITIONS,
    query: {
      fields: FIELDS,
      column: CELLS_OF,
      order: textParameter(TEXT, {
        description: 'By this field, absent ones first; with `-` before it the other way. By row key when left out.',
        example: '-fare.total',
      }),
      ...LIMIT,
      ...afterText(
        'WyJMaXNib24iLCI2ZTNhMGY5Yy0uLi4iLCIuLi4iXQ',
        'Continue from `next` of an answer to this same query.',
      ),
      ...READ,
      explain: flag('Answer also which statement was asked, where, and its plan.'),
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
    method: 'GET',
    path: '/v1/{datastore}/indexes/{index}/count',
    handler: 'query-index',
    mayCall: READERS,
    summary: 'Count the rows that a query finds',
    more: 'Counts as far as `limit`. Conditions are those of a query; it asks one shard, that of the value of the shard field.',
    where: CONDITIONS,
    query: {
      limit: digits(
        shape({ type: 'integer', minimum: 1, maximum: LIMITS.countedEntries, default: LIMITS.countedEntries }),
        [1, LIMITS.countedEntries],
        { description: 'How far is counted.', example: 1000 },
      ),
      ...READ,
    },
    answers: {
      200: {
        means: 'How many there are, and whether these are all.',
        body: COUNTED,
        example: { count: 31, complete: true, ...BY_WRITER },
      },
    },
    errors: OF_QUERY,
  },
});

/** The state of a datastore's indexes. */
export interface IndexOperations extends Methods<typeof INDEX_LISTS> {
  /** The one that `queryIndex` answers without parameters. Throws `unknown_index`. */
  getIndex(name: string): Promise<IndexStatus>;
}
