import { arrayOf, objectOf, schema } from '../schema.ts';
import { OF_DATASTORE, type Description } from './description.ts';
import { BODY, CELL, SERVED } from './examples.ts';

const STATUS = {
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

const ENTRY = {
  row_key: CELL.row_key,
  fields: { driver_partner_uuid: BODY.driver_partner_uuid, city: BODY.city, 'fare.total': BODY.fare.total },
  cells: [CELL],
} as const;

export const INDEXES = {
  listIndexes: {
    summary: 'List the indexes',
    more: 'Definitions, states, the progress of builds, how far the repair is behind, and fields that came with another type; as they are at this moment.',
    answers: {
      200: {
        means: 'Every index, by name.',
        schema: objectOf({ indexes: arrayOf(schema('IndexStatus')) }),
        example: { indexes: [STATUS] },
      },
    },
    problems: OF_DATASTORE,
  },
  queryIndex: {
    bodies: true,
    summary: 'Find rows by their fields, or see one index',
    more:
      'With parameters, a query: it asks one shard, that of the value of the shard field. Without any, the status of the index. ' +
      'A query that only a definition that is still being built can answer gets `index_building` with its progress. ' +
      'A parameter of another name than those below is a condition on the field of that name. Gateways take a request line and headers of some 10 KB in all.',
    query: ['conditions', 'fields', 'cellsOf', 'orderBy', 'limit', 'afterEntry', 'read', 'explain'],
    answers: {
      200: {
        means: 'The entries that meet all conditions, in order; or the status.',
        schema: { oneOf: [schema('IndexAnswer'), schema('IndexStatus')] },
        example: { entries: [ENTRY], next: null, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'missing_field', 'unknown_index', 'index_building'],
  },
  countEntries: {
    summary: 'Count the rows that a query finds',
    more: 'Counts as far as `limit`. Conditions are those of a query; it asks one shard, that of the value of the shard field.',
    query: ['conditions', 'countLimit', 'read'],
    answers: {
      200: {
        means: 'How many there are, and whether these are all.',
        schema: schema('IndexCounted'),
        example: { count: 31, complete: true, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'missing_field', 'unknown_index', 'index_building'],
  },
} as const satisfies Record<string, Description>;
