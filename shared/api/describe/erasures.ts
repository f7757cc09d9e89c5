import { ERASURE_REQUEST, FORGET_REQUEST } from '../erasure-schemas.ts';
import { arrayOf, objectOf, orNull, schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { CELL } from './examples.ts';

const FORGOTTEN = {
  subject_name: '3b1f6c0d9e2a47588c1d0f3e5a6b7c8d',
  reason: 'request 4711',
  requested_by: 'arn:aws:iam::123456789012:role/privacy',
  forgotten_at: '2026-01-31T08:00:00.000Z',
  had_key: true,
  unreadable_from: '2026-01-31T08:00:10.000Z',
  key_in_backups_until: '2026-03-07T08:00:05.000Z',
  not_reached: [
    'keyed hashes of its values that indexes have, in cells, indexes, backups and exports, as long as these live',
  ],
} as const;

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
    problems: [...OF_DATASTORE, ...OF_BODY],
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
  getRetention: {
    summary: 'See how long cells are kept, and what was erased by that',
    more: 'The rules, what was erased by day, and how far behind that is.',
    answers: {
      200: {
        means: 'All of it.',
        schema: schema('Retention'),
        example: {
          rules: [{ column: 'STATUS', keep_versions: 10 }],
          columns: [
            {
              column: 'STATUS',
              id: ERASED.id,
              days: [
                {
                  day: '2026-01-31',
                  erasures: 1000,
                  cells: 90_000,
                  bytes: 81_000_000,
                  from: '2026-01-31T00:00:07.000Z',
                  to: '2026-01-31T07:59:31.000Z',
                },
              ],
            },
          ],
          behind_seconds: 0,
          open: 0,
          waits_for: null,
        },
      },
    },
    problems: OF_DATASTORE,
  },
  forgetSubject: {
    summary: 'Forget a subject for good',
    more: 'Its key goes, and with it all that was ever sealed under it, in backups, exports and copies, too: see infra/docs/forgetting.md. Nothing is sealed for it any more. Asked again, it answers the same record.',
    request: {
      schema: FORGET_REQUEST,
      example: { subject: 'c3a8f1d2-5b6e-4f70-9a81-2d3c4b5a6978', reason: 'request 4711' },
    },
    answers: {
      200: { means: 'It is forgotten.', schema: schema('ForgottenSubject'), example: FORGOTTEN },
    },
    problems: [...OF_DATASTORE, ...OF_BODY, 'no_root_key'],
  },
  listForgotten: {
    summary: 'List subjects that were forgotten',
    more: 'The records, in no order. A page may have few of them, or none, and still not be the last: that has `next` null.',
    answers: {
      200: {
        means: 'A page of records.',
        schema: objectOf({ subjects: arrayOf(schema('ForgottenSubject')), next: orNull({ type: 'string' }) }),
        example: { subjects: [FORGOTTEN], next: null },
      },
    },
    query: ['limit', 'afterSubject'],
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
} as const satisfies Record<string, Description>;
