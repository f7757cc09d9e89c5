import { LIMITS } from '../cell.ts';
import { CREATED_AT } from './batches.ts';
import { ADDRESS, BODY as EXAMPLE, CELL as EXAMPLE_CELL } from './examples.ts';
import { items, maybe, members } from './input.ts';
import { operations } from './operation.ts';
import { always, described, list, named, object, oneOf, orNull, shape, type Input } from './shape.ts';
import { ADDED_ID, BODY, COLUMN_NAME, REF_KEY, ROW_KEY, SHARD } from './words.ts';
import { missingField } from '../errors.ts';

const WANTED_LATEST = 'the ref key of the latest cell, or null for none';
const LATEST: Input<number | null> = {
  ...described(orNull(REF_KEY), 'The ref key of its latest cell, of an erased one too; null: it has no cell.'),
  read(given, field) {
    if (given === undefined) throw missingField(field, WANTED_LATEST);
    return given === null ? null : REF_KEY.read(given, field);
  },
};
const CELL_MEMBERS = { column_name: COLUMN_NAME, ref_key: REF_KEY, body: BODY };
const CONDITION = members({ column_name: COLUMN_NAME, latest: LATEST });
const WRITTEN = named(
  'TransactionStored',
  object({
    outcome: oneOf('stored', 'stored_before'),
    row_key: ROW_KEY,
    shard: SHARD,
    added_ids: described(
      list(ADDED_ID),
      'Of the cells, in their order; consecutive for cells that were appended together.',
    ),
  }),
);
const BUFFERED = named(
  'TransactionBuffered',
  object({
    outcome: always('buffered'),
    row_key: ROW_KEY,
    shard: SHARD,
    copies: shape<number>({ type: 'integer', minimum: 1 }),
  }),
);
const { row_key } = ADDRESS;
const OF_ROW = { row_key, shard: 233 };

type Outcome = { readonly outcome: string };

const OF_WRITES = {
  method: 'POST',
  handler: 'write-cells',
  depthAround: 3,
} as const;
const STORED = {
  201: {
    means: 'Stored: all cells are on the primary, readable.',
    body: WRITTEN,
    example: { outcome: 'stored', ...OF_ROW, added_ids: [17, 18] },
  },
  200: {
    means: 'Stored before: all cells already exist with equal bodies.',
    body: WRITTEN,
    example: { outcome: 'stored_before', ...OF_ROW, added_ids: [17, 18] },
    when: ({ outcome }: Outcome) => outcome === 'stored_before',
  },
} as const;

export const TRANSACTIONS = operations({
  transactRow: {
    ...OF_WRITES,
    path: '/v1/{datastore}/rows/{row_key}/transactions',
    mayCall: ['clients'],
    summary: 'Write several cells of a row together',
    more:
      `Writes all cells or none, and only if every condition in \`if\` holds: at most ${LIMITS.transactionCells} cells and ${LIMITS.bodyBytes} bytes of JSON. ` +
      'Repeating it is safe: cells that exist with equal bodies count as written. A transaction with conditions is never `buffered`.',
    body: members({
      cells: items(members(CELL_MEMBERS), LIMITS.transactionCells, 1),
      if: maybe(items(CONDITION, LIMITS.transactionCells)),
    }),
    bodyExample: {
      cells: [
        { column_name: 'ORDER', ref_key: 4, body: EXAMPLE },
        { column_name: 'OUTBOX', ref_key: 17, body: { event: 'paid' } },
      ],
      if: [{ column_name: 'ORDER', latest: 3 }],
    },
    answers: {
      ...STORED,
      202: {
        means: 'Buffered as a whole: kept on secondaries, not readable yet.',
        body: BUFFERED,
        example: { outcome: 'buffered', ...OF_ROW, copies: 2 },
        when: ({ outcome }: Outcome) => outcome === 'buffered',
      },
    },
    errors: ['conflict', 'condition_failed', 'erased', 'subject_forgotten', 'body_too_large', 'no_root_key'],
    statuses: { erased: 409 },
  },
  restoreTransaction: {
    ...OF_WRITES,
    path: '/v1/{datastore}/rows/{row_key}/transactions/restore',
    mayCall: [],
    summary: 'Restore a transaction of a row with its original times',
    more: 'For operators; otherwise as a transaction without conditions. Times are kept as by `batch-restore`, and nothing is `buffered`.',
    body: members({ cells: items(members({ ...CELL_MEMBERS, created_at: CREATED_AT }), LIMITS.transactionCells, 1) }),
    bodyExample: {
      cells: [
        { column_name: 'ORDER', ref_key: 5, body: EXAMPLE, created_at: EXAMPLE_CELL.created_at },
        { column_name: 'OUTBOX', ref_key: 18, body: { event: 'paid' }, created_at: EXAMPLE_CELL.created_at },
      ],
    },
    answers: STORED,
    errors: ['conflict', 'erased', 'subject_forgotten', 'body_too_large', 'no_root_key'],
    statuses: { erased: 409 },
  },
});
