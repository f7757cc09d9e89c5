import { ERASABLE_NAME_BYTES } from '../address.ts';
import { invalidField, missingField } from '../errors.ts';
import { RETENTION_RULE, SCOPE } from './cell-shapes.ts';
import { CELL } from './examples.ts';
import { checked, maybe, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { flag, textParameter } from './parameter.ts';
import { LIMIT, NEXT_PAGE } from './query.ts';
import { COUNT, list, named, object, oneOf, orNull, described, shape, TEXT, WHEN, type Of } from './shape.ts';
import { ADDED_ID, COLUMN_NAME, ERASURE_ID, REASON, REF_KEY, ROW_KEY, SHARD } from './words.ts';

/**
 * An erasure removes bodies permanently: of a row, of a column, of its versions up to one, or of one cell. Their added
 * ids stay in the log, and nothing is ever written at their addresses again: a write is answered `erased`. The erasure
 * has its own added id, so followers of the log, and every trigger of the column, see it.
 */

const OF_ROW = { row_key: ROW_KEY, reason: REASON };
const COLUMN = described(COLUMN_NAME, `Only this column; at most ${ERASABLE_NAME_BYTES} bytes.`);
const OF_COLUMN = { ...OF_ROW, column_name: COLUMN };
const VERSION = described(REF_KEY, 'Only this version.');
const LAST = described(REF_KEY, 'This version and all before it.');

/** The target: a row; with `column_name` a column; with `up_to` versions up to that one; with `ref_key` one cell. */
const TARGET = checked(
  members({ ...OF_ROW, column_name: maybe(COLUMN), ref_key: maybe(VERSION), up_to: maybe(LAST) }),
  [
    members(OF_ROW),
    members(OF_COLUMN),
    members({ ...OF_COLUMN, ref_key: VERSION }),
    members({ ...OF_COLUMN, up_to: LAST }),
  ],
  ({ column_name, ref_key, up_to }) => {
    if (column_name === undefined) {
      const [stray] = Object.entries({ ref_key, up_to }).filter(([, value]) => value !== undefined);
      if (stray) throw missingField('column_name', `the column that ${stray[0]} is of`);
      return;
    }
    const bytes = Buffer.byteLength(column_name);
    if (bytes > ERASABLE_NAME_BYTES)
      throw invalidField(
        'column_name',
        `at most ${ERASABLE_NAME_BYTES} bytes: a column of a longer name is erased with its row`,
        `${bytes} bytes`,
      );
    if (ref_key !== undefined && up_to !== undefined)
      throw invalidField('up_to', 'either `ref_key` or `up_to`', 'both');
  },
);

const CLEANED = object({
  bodies: orNull(WHEN),
  entries: orNull(WHEN),
  copies: orNull(WHEN),
  parked: orNull(WHEN),
  nodes: orNull(WHEN),
});
export type ErasureTimes = Of<typeof CLEANED>;

const REQUESTED_BY = described(TEXT, 'The caller as IAM names it; `anybody` if calls are not signed.');

/** The record of an erasure. */
const ERASURE = named(
  'Erasure',
  object({
    id: ERASURE_ID,
    scope: described(SCOPE, 'A row, a column, its versions up to one, or a cell.'),
    row_key: ROW_KEY,
    column_name: described(orNull(COLUMN_NAME), 'Null for a row.'),
    ref_key: described(orNull(REF_KEY), 'For one cell; otherwise null.'),
    up_to: described(orNull(REF_KEY), 'For versions: the last one erased; otherwise null.'),
    shard: SHARD,
    reason: REASON,
    requested_by: REQUESTED_BY,
    requested_at: WHEN,
    state: described(oneOf('erasing', 'erased'), '`erasing`: `waits_for` says what is missing.'),
    added_id: described(
      orNull(ADDED_ID),
      "The erasure's own added id; null while it is buffered, or if a wider erasure came before.",
    ),
    cells: described(COUNT, 'Erased bodies.'),
    bytes: described(COUNT, 'Their stored bytes.'),
    erased_at: described(orNull(WHEN), 'When it was first done everywhere; a repeated request does not change this.'),
    cleaned: described(
      CLEANED,
      'When each was last found clean: the bodies on the writer, index entries, buffered copies, parked cells, every node that could become the writer.',
    ),
    waits_for: described(orNull(TEXT), 'The parts that are not clean yet, and why.'),
    backups_until: described(
      orNull(WHEN),
      'Until when backups and binary logs may hold the erased bodies, counted from when all was last found clean; null before that, and if unknown.',
    ),
  }),
);
export type Erasure = Of<typeof ERASURE>;

const DAY = object({
  day: shape<string>({ type: 'string', format: 'date', description: 'In UTC.' }),
  erasures: described(COUNT, 'Each is of one row.'),
  cells: described(COUNT, 'Erased bodies.'),
  bytes: described(COUNT, 'Their stored bytes.'),
  from: WHEN,
  to: WHEN,
});
export type RetainedDay = Of<typeof DAY>;

const RETAINED = object({
  column: TEXT,
  id: described(ERASURE_ID, "The id of the column's erasures in logs and answers."),
  days: list(DAY),
});
export type RetainedColumn = Of<typeof RETAINED>;

const RETENTION = named(
  'Retention',
  object({
    rules: described(list(RETENTION_RULE), 'None: cells are kept for good.'),
    columns: described(list(RETAINED), 'Erasures by column and day, the newest last.'),
    behind_seconds: described(orNull(COUNT), 'How long erasing is overdue, normally 0. Null before the first check.'),
    open: described(COUNT, 'Erasures that are not done everywhere yet.'),
    waits_for: described(orNull(TEXT), 'Why the first of them waits.'),
  }),
);
export type Retention = Of<typeof RETENTION>;

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

const SEE = { method: 'GET', handler: 'erase-cells', mayCall: ['erasers'] } as const;

export const ERASURES = operations({
  eraseCells: {
    method: 'POST',
    path: '/v1/{datastore}/erasures',
    handler: 'erase-cells',
    mayCall: ['erasers', 'console'],
    summary: 'Erase a row, a column, versions or a cell for good',
    more: 'Bodies go; their added ids stay in the log, and nothing is ever written at their addresses again. The erasure is itself in the log, where followers and triggers see it. A repeated request returns the same record, and checks again that nothing has come back.',
    body: TARGET,
    bodyExample: { row_key: CELL.row_key, column_name: CELL.column_name, reason: ERASED.reason },
    refusesUndefined: true,
    answers: {
      200: { means: 'It is done everywhere.', body: ERASURE, example: ERASED },
      202: {
        means: 'It is recorded, and will be done: `waits_for` says what is missing.',
        body: ERASURE,
        example: ERASING,
        when: ({ state }: Erasure) => state === 'erasing',
      },
    },
  },
  listErasures: {
    ...SEE,
    path: '/v1/{datastore}/erasures',
    summary: 'List erasures',
    more: 'The records, in no order; `open=true` lists those that are not done everywhere yet.',
    query: {
      open: flag('Only those that are not done everywhere yet.'),
      ...LIMIT,
      after: textParameter(ERASURE_ID, { description: NEXT_PAGE, example: ERASED.id }, ERASURE_ID.read),
    },
    answers: {
      200: {
        means: 'A page of records.',
        body: object({ erasures: list(ERASURE), next: orNull(ERASURE_ID) }),
        example: { erasures: [ERASED], next: null },
      },
    },
  },
  getErasure: {
    ...SEE,
    path: '/v1/{datastore}/erasures/{erasure}',
    summary: 'See the record of an erasure',
    more: 'The target, the requester, the reason, when each part was cleaned, and until when backups may hold the bodies.',
    answers: { 200: { means: 'The record.', body: ERASURE, example: ERASED } },
  },
  getRetention: {
    ...SEE,
    path: '/v1/{datastore}/retention',
    summary: 'See the retention rules, and what they erased',
    more: 'The rules, what they erased by day, and how far erasing is behind.',
    answers: {
      200: {
        means: 'The rules and their erasures.',
        body: RETENTION,
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
  },
});

export type ErasureOperations = Methods<typeof ERASURES>;
