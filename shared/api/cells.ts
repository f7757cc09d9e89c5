import { LIMITS } from '../cell.ts';
import { CELL_BUFFERED, CELL_PUT, pageOf, READ_CELL } from './cell-shapes.ts';
import { ADDRESS, BODY as EXAMPLE, CELL, SERVED } from './examples.ts';
import { operations } from './operation.ts';
import { choice, digits, textParameter } from './parameter.ts';
import { COLUMNS, LIMIT, READ_ROW, READERS } from './query.ts';
import { BODY, COLUMN_NAME, REF_KEY } from './words.ts';

/** Over the RDS Data API some bodies do not fit into an answer. */
const OF_READS = ['overloaded', 'answer_too_large', 'no_root_key'] as const;
const OF_ONE_CELL = ['cell_not_found', 'erased', 'undecodable_body', ...OF_READS] as const;
const STORED = { ...ADDRESS, shard: 233, added_id: 17, created_at: CELL.created_at } as const;
const CELLS = { cells: [CELL], next: null, ...SERVED } as const;

type Put = { readonly outcome: string };

export const PUT_CELL = operations({
  putCell: {
    method: 'PUT',
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
    handler: 'write-cells',
    mayCall: ['clients'],
    summary: 'Write one cell',
    more: 'The request body is the JSON of the cell. Repeating the same write is safe. Another body at the same address is refused.',
    body: BODY,
    bodyExample: EXAMPLE,
    whole: true,
    answers: {
      201: {
        means: 'Stored: on the primary, readable.',
        body: CELL_PUT,
        example: { outcome: 'stored', ...STORED },
      },
      200: {
        means: 'Stored before: the cell already exists with an equal body.',
        body: CELL_PUT,
        example: { outcome: 'stored_before', ...STORED },
        when: ({ outcome }: Put) => outcome === 'stored_before',
      },
      202: {
        means: 'Buffered: kept on secondaries, not readable yet.',
        body: CELL_BUFFERED,
        example: { outcome: 'buffered', ...ADDRESS, shard: 233, copies: 2 },
        when: ({ outcome }: Put) => outcome === 'buffered',
      },
    },
    errors: ['conflict', 'erased', 'subject_forgotten', 'body_too_large', 'no_root_key'],
    statuses: { erased: 409 },
  },
});

const READ_CELLS = {
  method: 'GET',
  handler: 'read-cells',
  mayCall: READERS,
  bodies: true,
  errors: OF_READS,
} as const;

/** Reads of one cell, one column, one row. */
export const CELL_READS = operations({
  getCell: {
    ...READ_CELLS,
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
    summary: 'Read one cell',
    query: READ_ROW,
    answers: { 200: { means: 'The cell.', body: READ_CELL, example: { ...CELL, ...SERVED } } },
    errors: OF_ONE_CELL,
  },
  getLatestCell: {
    ...READ_CELLS,
    path: '/v1/{datastore}/cells/{row_key}/{column_name}',
    summary: 'Read the latest cell of a column',
    query: READ_ROW,
    answers: { 200: { means: 'The cell with the highest ref key.', body: READ_CELL, example: { ...CELL, ...SERVED } } },
    errors: OF_ONE_CELL,
  },
  listVersions: {
    ...READ_CELLS,
    path: '/v1/{datastore}/cells/{row_key}/{column_name}/versions',
    summary: 'List the cells of a column',
    query: {
      ...LIMIT,
      order: choice(['desc', 'asc'], {
        default: 'desc',
        description: 'Newest first, or oldest first.',
        example: 'asc',
      }),
      after: digits(REF_KEY, [0, LIMITS.refKey], { description: 'Continue beyond this ref key.', example: 4 }),
      ...READ_ROW,
    },
    answers: {
      200: { means: 'The cells; none if the column is empty.', body: pageOf('Versions', REF_KEY), example: CELLS },
    },
  },
  getRow: {
    ...READ_CELLS,
    path: '/v1/{datastore}/rows/{row_key}',
    summary: 'Read the latest cell of each column of a row',
    query: {
      column: COLUMNS,
      after: textParameter(
        COLUMN_NAME,
        { description: 'Continue after this column name.', example: 'BASE' },
        COLUMN_NAME.read,
      ),
      ...READ_ROW,
    },
    answers: {
      200: {
        means: 'The cells, in byte order of their column names.',
        body: pageOf('Row', COLUMN_NAME),
        example: CELLS,
      },
    },
  },
});
