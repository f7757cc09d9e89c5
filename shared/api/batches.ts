import { LIMITS, type Json } from '../cell.ts';
import { FAILED_ITEM, PUT_RESULT, READ_CELL } from './cell-shapes.ts';
import { ADDRESS, BODY as EXAMPLE, CELL, SERVED } from './examples.ts';
import { input, items, maybe, members } from './input.ts';
import { operations } from './operation.ts';
import { READ, READERS, SEALED } from './query.ts';
import { either, list, named, object, orNull, described, shape, type Input } from './shape.ts';
import { ADDED_ID, ADDRESS_MEMBERS, BODY, REF_KEY, TIME } from './words.ts';
import { missingField } from '../errors.ts';

const { row_key } = ADDRESS;
/** Levels of JSON around a cell's body in a batch: the request, `cells`, the cell. */
const DEPTH_AROUND = 3;

const CELL_MEMBERS = { ...ADDRESS_MEMBERS, body: BODY };
const KEY = members({ ...ADDRESS_MEMBERS, ref_key: maybe(REF_KEY), min_added_id: maybe(ADDED_ID) });
export const CREATED_AT: Input<string> = {
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
const OF_WRITES = {
  method: 'POST',
  handler: 'write-cells',
  depthAround: DEPTH_AROUND,
  answers: { 200: RESULTS },
  errors: ['body_too_large', 'no_root_key'],
} as const;

export const BATCH_WRITES = operations({
  batchPut: {
    ...OF_WRITES,
    path: '/v1/{datastore}/batch-put',
    mayCall: ['clients'],
    summary: 'Write many cells',
    more: 'A malformed cell fails the whole batch; the outcomes of well-formed cells are independent.',
    body: members({ cells: items(members(CELL_MEMBERS), LIMITS.batchCells) }),
    bodyExample: { cells: [{ ...ADDRESS, body: EXAMPLE }] },
  },
  batchRestore: {
    ...OF_WRITES,
    path: '/v1/{datastore}/batch-restore',
    mayCall: [],
    summary: 'Restore many cells with their original times',
    more:
      'For operators; otherwise as `batch-put`. A cell is stored with its time, or with that of the last cell of its shard if that is later; ' +
      'a future time counts as now. A cell that already exists keeps its time. Nothing is `buffered`: a cell that cannot be appended now is `unavailable`.',
    body: members({ cells: items(members({ ...CELL_MEMBERS, created_at: CREATED_AT }), LIMITS.batchCells) }),
    bodyExample: { cells: [{ ...ADDRESS, body: EXAMPLE, created_at: CELL.created_at }] },
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
    more: 'A key without `ref_key` returns the latest cell of its column.',
    query: { ...READ, ...SEALED },
    body: members({ keys: items(KEY, LIMITS.batchCells) }),
    bodyExample: { keys: [ADDRESS, { row_key, column_name: 'STATUS' }] },
    answers: {
      200: {
        means: 'Cells in the order of the keys; null if a cell does not exist, an error if it could not be read.',
        body: object({
          cells: list(named('BatchItem', either(READ_CELL, shape<null>({ type: 'null' }), FAILED_ITEM))),
        }),
        example: { cells: [{ ...CELL, ...SERVED }, null] },
      },
    },
    bodies: true,
    errors: ['no_root_key'],
  },
});

const ANSWER_OF_MANY = named(
  'AnswerOfMany',
  orNull(
    object({
      status: shape<number>({ type: 'integer' }),
      body: shape<object>({
        type: 'object',
        description: 'With status 200 the answer of a GET, otherwise a problem.',
      }),
    }),
  ),
);

/** A path and query, encoded, after the datastore. The function that answers checks it. */
const TARGET = input<Json>({ type: 'string' }, (given) => given as Json);

function manyReads(targets: string, example: readonly string[], answers: readonly Json[]) {
  return {
    method: 'POST',
    reads: true,
    mayCall: READERS,
    more:
      'Each read is answered independently, as by a GET, problems included. A read is answered null if it was not done soon after ' +
      `another was, or does not fit into the answer of ${LIMITS.answerBytes} bytes: repeat it alone.`,
    body: members({
      targets: described(
        items(TARGET, LIMITS.batchReads),
        `Paths and queries, encoded, after the datastore: ${targets}.`,
      ),
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
  } as const;
}

export const BATCH_READ = operations({
  batchRead: {
    path: '/v1/{datastore}/batch-read',
    handler: 'read-cells',
    summary: 'Read many cells and rows, each as by its own GET',
    ...manyReads(
      '`cells/…/COLUMN`, `cells/…/COLUMN/REF_KEY`, `cells/…/COLUMN/versions`, `rows/…`',
      [`cells/${row_key}/STATUS?read=reader`, `rows/${row_key}`],
      [{ status: 200, body: { ...CELL, ...SERVED } }, null],
    ),
  },
});

export const BATCH_QUERY = operations({
  batchQuery: {
    path: '/v1/{datastore}/batch-query',
    handler: 'query-index',
    summary: 'Run many queries, each as by its own GET',
    ...manyReads(
      '`indexes/INDEX?FIELD=value`',
      ['indexes/driver_partner_index?driver_partner_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10&limit=10'],
      [{ status: 200, body: { entries: [], next: null, ...SERVED } }],
    ),
  },
});
