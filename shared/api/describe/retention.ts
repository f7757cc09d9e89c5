import { objectOf, arrayOf, orNull, schema } from '../schema.ts';
import { HOLD_REQUEST } from '../retention-schemas.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { CELL } from './examples.ts';

const HELD = {
  hold: 'case-2026-17',
  row_key: CELL.row_key,
  subject: null,
  reason: 'evidence in case 17',
  requested_by: 'arn:aws:iam::123456789012:role/privacy',
  requested_at: '2026-01-31T08:00:00.000Z',
} as const;

const PURGING = {
  state: 'purging',
  requested_by: HELD.requested_by,
  requested_at: HELD.requested_at,
  purged_at: null,
  tables: 0,
  of: 0,
  bytes_before: 0,
  bytes_after: 0,
  waits_for: null,
  logs_left: null,
} as const;

const PURGED = {
  ...PURGING,
  state: 'purged',
  purged_at: '2026-01-31T08:03:00.000Z',
  tables: 68,
  of: 68,
  bytes_before: 91_750_400,
  bytes_after: 20_971_520,
} as const;

/** The routes of those who answer for how long cells are kept. */
export const RETENTION = {
  getRetention: {
    summary: 'See how long cells are kept, and what was erased by that',
    more: 'The rules, what was erased by day, how far behind that is, and the last purge.',
    answers: {
      200: {
        means: 'All of it.',
        schema: schema('Retention'),
        example: {
          rules: [{ column: 'STATUS', keep_versions: 10 }],
          columns: [
            {
              column: 'STATUS',
              id: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
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
          purge: PURGED,
        },
      },
    },
    problems: OF_DATASTORE,
  },
  listHolds: {
    summary: 'List what is held back from erasures',
    more: 'All holds, in no order; or those of a row or a subject.',
    answers: {
      200: {
        means: 'A page of holds.',
        schema: objectOf({ holds: arrayOf(schema('Hold')), next: orNull({ type: 'string' }) }),
        example: { holds: [HELD], next: null },
      },
    },
    query: ['heldRow', 'heldSubject', 'limit', 'afterHold'],
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
  putHold: {
    summary: 'Hold a row, or a subject, back from every erasure',
    more: 'Until it is released nothing of it is erased, neither by who asks for that (409 `held`) nor since it is out of its retention. What is hidden stays hidden. Put again, it is the same hold, with its first reason.',
    request: {
      schema: HOLD_REQUEST,
      example: { hold: HELD.hold, row_key: HELD.row_key, reason: HELD.reason },
    },
    answers: { 200: { means: 'It is held.', schema: schema('Hold'), example: HELD } },
    problems: [...OF_DATASTORE, ...OF_BODY],
  },
  releaseHold: {
    summary: 'Release a hold',
    more: 'What of the row is out of its retention is looked for within minutes, unless another hold is on it.',
    answers: { 200: { means: 'The hold that was released.', schema: schema('Hold'), example: HELD } },
    query: ['hold', 'heldRow', 'heldSubject'],
    problems: [...OF_DATASTORE, 'invalid_field', 'missing_field', 'unknown_hold'],
  },
  purgeSpace: {
    summary: 'Give back the space of what was erased',
    more: 'Has every table of the datastore written anew, one after the other, in the background, so that pages which still had erased bodies go. `GET …/retention` tells how far it is. Asked for again meanwhile, it answers the same record.',
    answers: { 202: { means: 'It is recorded, and will be done.', schema: schema('Purge'), example: PURGING } },
    problems: OF_DATASTORE,
  },
} as const satisfies Record<string, Description>;
