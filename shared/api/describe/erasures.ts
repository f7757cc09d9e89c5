import { ERASURE_REQUEST } from '../erasure-schemas.ts';
import { arrayOf, objectOf, orNull, schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { CELL } from './examples.ts';

const ERASED = {
  id: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
  scope: 'column',
  row_key: CELL.row_key,
  column_name: CELL.column_name,
  ref_key: null,
  up_to: null,
  shard: CELL.shard,
  reason: 'request 4711 of the rider',
  requested_by: 'arn:aws:iam::123456789012:role/privacy',
  requested_at: '2026-01-31T08:00:00.000Z',
  state: 'erased',
  added_id: 1042,
  cells: 3,
  bytes: 912,
  erased_at: '2026-01-31T08:00:00.093Z',
  cleaned: {
    bodies: '2026-01-31T08:00:00.041Z',
    entries: '2026-01-31T08:00:00.055Z',
    copies: '2026-01-31T08:00:00.061Z',
    parked: '2026-01-31T08:00:00.070Z',
    nodes: '2026-01-31T08:00:00.093Z',
  },
  waits_for: null,
  backups_until: '2026-05-01T08:00:00.041Z',
} as const;

const ERASING = {
  ...ERASED,
  state: 'erasing',
  erased_at: null,
  cleaned: { ...ERASED.cleaned, copies: null, nodes: null },
  waits_for: 'copies: group-2 does not answer',
  backups_until: null,
} as const;

/** The routes of those who erase. */
export const ERASURES = {
  eraseCells: {
    summary: 'Erase a row, a column, versions or a cell for good',
    more: 'Bodies go; their places in the log stay, and nothing is ever written there again. The erasure has a place in the log itself, which followers and triggers see. Asked again for the same, it answers the same record, and looks once more whether anything has come back.',
    request: {
      schema: ERASURE_REQUEST,
      example: { row_key: CELL.row_key, column_name: CELL.column_name, reason: ERASED.reason },
    },
    answers: {
      200: { means: 'It is done everywhere.', schema: schema('Erasure'), example: ERASED },
      202: {
        means: 'It is recorded, and will be done: `waits_for` says what is missing.',
        schema: schema('Erasure'),
        example: ERASING,
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY, 'held'],
  },
  listErasures: {
    summary: 'List what was erased',
    more: 'The records, in no order; `open=true` lists those that are not done everywhere yet.',
    answers: {
      200: {
        means: 'A page of records.',
        schema: objectOf({ erasures: arrayOf(schema('Erasure')), next: orNull(schema('ErasureId')) }),
        example: { erasures: [ERASED], next: null },
      },
    },
    query: ['open', 'limit', 'afterErasure'],
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
  getErasure: {
    summary: 'See the record of an erasure',
    more: 'What was erased, by whom and why, which places were cleaned when, and until when backups may hold it.',
    answers: { 200: { means: 'The record.', schema: schema('Erasure'), example: ERASED } },
    problems: [...OF_DATASTORE, 'invalid_field', 'unknown_erasure'],
  },
} as const satisfies Record<string, Description>;
