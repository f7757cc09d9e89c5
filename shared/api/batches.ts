import { LIMITS, type Json } from '../cell.ts';
import { FAILED_ITEM, PUT_RESULT, READ_CELL } from './cell-shapes.ts';
import { ADDRESS, BODY as EXAMPLE, CELL, SERVED } from './examples.ts';
import { input, items, maybe, members } from './input.ts';
import { operations } from './operation.ts';
import { READ, SEALED } from './query.ts';
import { either, list, named, object, orNull, said, shape, type Input } from './shape.ts';
import { ADDED_ID, BODY, COLUMN_NAME, REF_KEY, ROW_KEY, TIME } from './words.ts';
import { missingField } from '../errors.ts';

const { row_key } = ADDRESS;
const READERS = ['readers', 'clients'] as const;
/** What a batch puts around a cell's body: the request, its `cells`, the cell. */
const DEPTH_AROUND = 3;

const CELL_MEMBERS = { row_key: ROW_KEY, column_name: COLUMN_NAME, ref_key: REF_KEY, body: BODY };
const KEY = members({
  row_key: ROW_KEY,
  column_name: COLUMN_NAME,
  ref_key: maybe(REF_KEY),
  min_added_id: maybe(ADDED_ID),
});
const CREATED_AT: Input<string> = {
  ...TIME,
  read(given, field) {
    if (given === undefined) throw missingField(field, 'when the cell was stored, as in RFC 3339');
    return TIME.read(given, field);
  },
};
const RESULTS = {
  means: 'The outcomes, in the order of the cells.',
  body: object({ results: list(PUT_RESULT) }),
  example: { results: [{ outcome: 'stored', shard: 233, added_id: 17, created_at: CELL.created_at }] },
} as const;
const OF_WRITES = ['body_too_large', 'no_root_key', 'undecodable_body'] as const;

export const BATCH_WRITES = operations({
  batchPut: {
    method: 'POST',
    path: '/v1/{datastore}/batch-put',
    handler: 'write-cells',
    mayCall: ['clients'],
    summary: 'Write many cells',
    more: 'A malformed cell refuses the whole batch; the outcomes of well-formed ones are independent.',
    body: members({ cells: items(members(CELL_MEMBERS), LIMITS.batchCells) }),
    bodyExample: { cells: [{ ...ADDRESS, body: EXAMPLE }] },
    depthAround: DEPTH_AROUND,
    answers: { 200: RESULTS },
    errors: OF_WRITES,
  },
  batchRestore: {
    method: 'POST',
    path: '/v1/{datastore}/batch-restore',
    handler: 'write-cells',
    mayCall: [],
    summary: 'Write many cells that were stored before, with their times',
    more:
      'For operators, and otherwise as `batch-put`. A cell is stored with its time, or with that of the last cell of its shard, where that is later; ' +
      'a time that is yet to come counts as now. A cell that is there already keeps its own. Nothing is `buffered`: what cannot be appended now is `unavailable`.',
    body: members({ cells: items(members({ ...CELL_MEMBERS, created_at: CREATED_AT }), LIMITS.batchCells) }),
    bodyExample: { cells: [{ ...ADDRESS, body: EXAMPLE, created_at: CELL.created_at }] },
    depthAround: DEPTH_AROUND,
    answers: { 200: RESULTS },
    errors: OF_WRITES,
  },
});

export const BATCH_GET = operations({
  batchGet: {
    method: 'POST',
    path: '/v1/{datastore}/batch-get',
    handler: 'read-cells',
    mayCall: READERS,
    reads: true,
    summary: 'Read many cells, or latest cells',
    more: 'A key without ref_key asks for the latest cell of its column.',
    query: { ...READ, ...SEALED },
    body: members({ keys: items(KEY, LIMITS.batchCells) }),
    bodyExample: { keys: [ADDRESS, { row_key, column_name: 'STATUS' }] },
    answers: {
      200: {
        means:
          'Cells in the order of the keys; null where there is none; an error in the place of a cell that could not be read.',
        body: object({
          cells: list(named('BatchItem', either(READ_CELL, shape<null>({ type: 'null' }), FAILED_ITEM))),
        }),
        example: { cells: [{ ...CELL, ...SERVED }, null] },
      },
    },
    bodies: true,
    errors: [],
  },
});

const ANSWER_OF_MANY = named(
  'AnswerOfMany',
  orNull(
    object({
      status: shape<number>({ type: 'integer' }),
      body: shape<object>({
        type: 'object',
        description: 'Of the status 200, what a GET answers; of any other, a problem.',
      }),
    }),
  ),
);

/** Checked where it is known what can be asked for: paths and queries, encoded, after the datastore. */
const TARGET = input<Json>({ type: 'string' }, (given) => given as Json);

function manyReads(targets: string, example: readonly string[], answers: readonly Json[]) {
  return {
    reads: true,
    mayCall: READERS,
    more:
      'What comes of each read is what a GET of it answers, problems included; they are independent. A read is answered null when it was not done soon after ' +
      `another was, or has no room in the answer of ${LIMITS.answerBytes} bytes: ask for it alone.`,
    body: members({
      targets: said(items(TARGET, LIMITS.batchReads), `Paths and queries, encoded, after the datastore: ${targets}.`),
    }),
    bodyExample: { targets: example },
    answers: {
      200: {
        means: 'The answers, in the order of the targets.',
        body: object({ answers: list(ANSWER_OF_MANY) }),
        example: { answers },
      },
    },
    bodies: true,
    errors: [],
  } as const;
}

export const BATCH_READ = operations({
  batchRead: {
    method: 'POST',
    path: '/v1/{datastore}/batch-read',
    handler: 'read-cells',
    summary: 'Read many cells and rows, each as a GET of its own would',
    ...manyReads(
      '`cells/…/COLUMN`, `cells/…/COLUMN/REF_KEY`, `cells/…/COLUMN/versions`, `rows/…`',
      [`cells/${row_key}/STATUS?read=reader`, `rows/${row_key}`],
      [{ status: 200, body: { ...CELL, ...SERVED } }, null],
    ),
  },
});

export const BATCH_QUERY = operations({
  batchQuery: {
    method: 'POST',
    path: '/v1/{datastore}/batch-query',
    handler: 'query-index',
    summary: 'Ask many queries, each as a GET of its own would',
    ...manyReads(
      '`indexes/INDEX?FIELD=value`',
      ['indexes/driver_partner_index?driver_partner_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10&limit=10'],
      [{ status: 200, body: { entries: [], next: null, ...SERVED } }],
    ),
  },
});
