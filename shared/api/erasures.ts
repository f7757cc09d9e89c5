import { ERASABLE_NAME_BYTES } from '../address.ts';
import { invalidField, missingField } from '../errors.ts';
import { RETENTION_RULE, SCOPE } from './cell-shapes.ts';
import { CELL } from './examples.ts';
import { checked, maybe, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { flag, textParameter } from './parameter.ts';
import { LIMIT, NEXT_PAGE } from './query.ts';
import { COUNT, list, named, object, oneOf, orNull, said, shape, TEXT, WHEN, type Of } from './shape.ts';
import { ADDED_ID, COLUMN_NAME, ERASURE_ID, REASON, REF_KEY, ROW_KEY, SHARD } from './words.ts';

/**
 * An erasure takes bodies away for good: those of a row, of a column of it, of its versions up to one, or of one cell.
 * Their places in the log stay, and nothing is ever written there again: a write is answered `erased`. It has a place
 * in the log itself, so that who follows the log, and every trigger of the column, hears of it.
 */

/** What is to be erased: a row; with `column_name` a column of it; with `up_to` its versions up to that one; with `ref_key` one cell. */
const TARGET = checked(
  members({
    row_key: ROW_KEY,
    column_name: said(maybe(COLUMN_NAME), 'Of that column alone. All of the row when left out.'),
    ref_key: said(maybe(REF_KEY), 'Of one version alone.'),
    up_to: said(maybe(REF_KEY), 'Of that version and all before it. Not together with `ref_key`.'),
    reason: REASON,
  }),
  {
    dependentRequired: { ref_key: ['column_name'], up_to: ['column_name'] },
    dependentSchemas: { ref_key: { properties: { up_to: false } } },
  },
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

const REQUESTED_BY = said(TEXT, 'The caller as IAM knows it; `anybody` where calls are not signed.');

/** The record of an erasure. */
const ERASURE = named(
  'Erasure',
  object({
    id: ERASURE_ID,
    scope: said(SCOPE, 'What was erased: a row, a column, versions of it up to one, or a cell.'),
    row_key: ROW_KEY,
    column_name: said(orNull(COLUMN_NAME), 'Null of a row.'),
    ref_key: said(orNull(REF_KEY), 'Of one cell; else null.'),
    up_to: said(orNull(REF_KEY), 'Of versions: the last one that was erased; else null.'),
    shard: SHARD,
    reason: REASON,
    requested_by: REQUESTED_BY,
    requested_at: WHEN,
    state: said(oneOf('erasing', 'erased'), '`erasing`: `waits_for` says what is missing.'),
    added_id: said(
      orNull(ADDED_ID),
      "The erasure's own place in the log; null as long as it is buffered, or where a wider one came before.",
    ),
    cells: said(COUNT, 'Bodies that were erased.'),
    bytes: said(COUNT, 'Of them, as they were stored.'),
    erased_at: said(
      orNull(WHEN),
      'When it was done everywhere for the first time; it stays when it is asked for again.',
    ),
    cleaned: said(
      CLEANED,
      'When which places were found clean the last time: the bodies on the writer, index entries, buffered copies, parked cells, every node that could become the writer.',
    ),
    waits_for: said(orNull(TEXT), 'What is not clean yet, and why.'),
    backups_until: said(
      orNull(WHEN),
      'Until when backups and binary logs may hold what was erased, counted from when it was last found done; null until it is, and where nobody knows.',
    ),
  }),
);
export type Erasure = Of<typeof ERASURE>;

const DAY = object({
  day: shape<string>({ type: 'string', format: 'date', description: 'By UTC.' }),
  erasures: said(COUNT, 'Each of a row.'),
  cells: said(COUNT, 'Bodies that were erased.'),
  bytes: said(COUNT, 'Of them, as they were stored.'),
  from: WHEN,
  to: WHEN,
});
export type RetainedDay = Of<typeof DAY>;

const RETAINED = object({
  column: TEXT,
  id: said(ERASURE_ID, 'Of the erasures of the column, in logs and answers.'),
  days: list(DAY),
});
export type RetainedColumn = Of<typeof RETAINED>;

const RETENTION = named(
  'Retention',
  object({
    rules: said(list(RETENTION_RULE), 'None: cells are kept for good.'),
    columns: said(list(RETAINED), 'What was erased, by column and day; the newest last.'),
    behind_seconds: said(orNull(COUNT), 'How long erasing is overdue: 0 as a rule. Null where nobody has looked yet.'),
    open: said(COUNT, 'Erasures that are not done everywhere yet.'),
    waits_for: said(orNull(TEXT), 'What the first of them waits for.'),
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
    more: 'Bodies go; their places in the log stay, and nothing is ever written there again. The erasure has a place in the log itself, which followers and triggers see. Asked again for the same, it answers the same record, and looks once more whether anything has come back.',
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
    errors: [],
  },
  listErasures: {
    ...SEE,
    path: '/v1/{datastore}/erasures',
    summary: 'List what was erased',
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
    errors: [],
  },
  getErasure: {
    ...SEE,
    path: '/v1/{datastore}/erasures/{erasure}',
    summary: 'See the record of an erasure',
    more: 'What was erased, by whom and why, which places were cleaned when, and until when backups may hold it.',
    answers: { 200: { means: 'The record.', body: ERASURE, example: ERASED } },
    errors: ['unknown_erasure'],
  },
  getRetention: {
    ...SEE,
    path: '/v1/{datastore}/retention',
    summary: 'See how long cells are kept, and what was erased by that',
    more: 'The rules, what was erased by day, and how far behind that is.',
    answers: {
      200: {
        means: 'All of it.',
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
    errors: [],
  },
});

export type ErasureOperations = Methods<typeof ERASURES>;
