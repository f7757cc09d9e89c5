import { LIMITS } from '../cell.ts';
import { ADDRESS, BODY as EXAMPLE } from './examples.ts';
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
const CELL = members({ column_name: COLUMN_NAME, ref_key: REF_KEY, body: BODY });
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

export const TRANSACTIONS = operations({
  transactRow: {
    method: 'POST',
    path: '/v1/{datastore}/rows/{row_key}/transactions',
    handler: 'write-cells',
    mayCall: ['clients'],
    summary: 'Write several cells of a row together',
    more:
      `Writes all cells or none, and only if every condition in \`if\` holds: at most ${LIMITS.transactionCells} cells and ${LIMITS.bodyBytes} bytes of JSON. ` +
      'Repeating it is safe: cells that exist with equal bodies count as written. A transaction with conditions is never `buffered`.',
    body: members({
      cells: items(CELL, LIMITS.transactionCells, 1),
      if: maybe(items(CONDITION, LIMITS.transactionCells)),
    }),
    bodyExample: {
      cells: [
        { column_name: 'ORDER', ref_key: 4, body: EXAMPLE },
        { column_name: 'OUTBOX', ref_key: 17, body: { event: 'paid' } },
      ],
      if: [{ column_name: 'ORDER', latest: 3 }],
    },
    depthAround: 3,
    answers: {
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
});
