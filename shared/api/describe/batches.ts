import { LIMITS, type Json } from '../../cell.ts';
import { arrayOf, objectOf, schema, type Schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { ADDRESS, BODY, CELL, SERVED } from './examples.ts';

const { row_key } = ADDRESS;

const CELL_MEMBERS = {
  row_key: schema('RowKey'),
  column_name: schema('ColumnName'),
  ref_key: schema('RefKey'),
  body: schema('Body'),
};
const NEW_CELL = objectOf(CELL_MEMBERS);
const RESTORED_CELL = objectOf({ ...CELL_MEMBERS, created_at: schema('Time') });
const KEY = objectOf(
  {
    row_key: schema('RowKey'),
    column_name: schema('ColumnName'),
    ref_key: schema('RefKey'),
    min_added_id: schema('AddedId'),
  },
  ['ref_key', 'min_added_id'],
);

/** The routes of many cells. */
export const BATCHES = {
  batchPut: manyWrites({
    summary: 'Write many cells',
    more: 'A malformed cell refuses the whole batch; the outcomes of well-formed ones are independent.',
    cell: NEW_CELL,
    example: { ...ADDRESS, body: BODY },
  }),
  batchRestore: manyWrites({
    summary: 'Write many cells that were stored before, with their times',
    more:
      'For operators, and otherwise as `batch-put`. A cell is stored with its time, or with that of the last cell of its shard, where that is later; ' +
      'a time that is yet to come counts as now. A cell that is there already keeps its own. Nothing is `buffered`: what cannot be appended now is `unavailable`.',
    cell: RESTORED_CELL,
    example: { ...ADDRESS, body: BODY, created_at: CELL.created_at },
  }),
  batchGet: {
    bodies: true,
    summary: 'Read many cells, or latest cells',
    more: 'A key without ref_key asks for the latest cell of its column.',
    query: ['read', 'sealed'],
    request: {
      schema: objectOf({ keys: arrayOf(KEY, LIMITS.batchCells) }),
      example: { keys: [ADDRESS, { row_key, column_name: 'STATUS' }] },
    },
    answers: {
      200: {
        means:
          'Cells in the order of the keys; null where there is none; an error in the place of a cell that could not be read.',
        schema: objectOf({ cells: arrayOf(schema('BatchItem')) }),
        example: { cells: [{ ...CELL, ...SERVED }, null] },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY],
  },
  batchRead: manyReads({
    summary: 'Read many cells and rows, each as a GET of its own would',
    targets: '`cells/…/COLUMN`, `cells/…/COLUMN/REF_KEY`, `cells/…/COLUMN/versions`, `rows/…`',
    example: [`cells/${row_key}/STATUS?read=reader`, `rows/${row_key}`],
    answers: [{ status: 200, body: { ...CELL, ...SERVED } }, null],
  }),
  batchQuery: manyReads({
    summary: 'Ask many queries, each as a GET of its own would',
    targets: '`indexes/INDEX?FIELD=value`',
    example: ['indexes/driver_partner_index?driver_partner_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10&limit=10'],
    answers: [{ status: 200, body: { entries: [], next: null, ...SERVED } }],
  }),
} as const satisfies Record<string, Description>;

interface ManyWrites {
  readonly summary: string;
  readonly more: string;
  readonly cell: Schema;
  readonly example: Json;
}

function manyWrites({ summary, more, cell, example }: ManyWrites): Description {
  return {
    summary,
    more,
    request: { schema: objectOf({ cells: arrayOf(cell, LIMITS.batchCells) }), example: { cells: [example] } },
    answers: {
      200: {
        means: 'The outcomes, in the order of the cells.',
        schema: objectOf({ results: arrayOf(schema('PutResult')) }),
        example: { results: [{ outcome: 'stored', shard: 233, added_id: 17, created_at: CELL.created_at }] },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY, 'body_too_large', 'no_root_key', 'undecodable_body'],
  };
}

interface ManyReads {
  readonly summary: string;
  readonly targets: string;
  readonly example: readonly string[];
  readonly answers: readonly Json[];
}

function manyReads({ summary, targets, example, answers }: ManyReads): Description {
  return {
    summary,
    bodies: true,
    more:
      'What comes of each read is what a GET of it answers, problems included; they are independent. A read is answered null when it was not done soon after ' +
      `another was, or has no room in the answer of ${LIMITS.answerBytes} bytes: ask for it alone.`,
    request: {
      schema: objectOf({
        targets: {
          ...arrayOf({ type: 'string' }, LIMITS.batchReads),
          description: `Paths and queries, encoded, after the datastore: ${targets}.`,
        },
      }),
      example: { targets: example },
    },
    answers: {
      200: {
        means: 'The answers, in the order of the targets.',
        schema: objectOf({ answers: arrayOf(schema('AnswerOfMany')) }),
        example: { answers },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY],
  };
}
