import { schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { ADDRESS, BODY, CELL, SERVED } from './examples.ts';

/** The routes of one cell, one column, one row. */
export const CELLS = {
  putCell: {
    summary: 'Write one cell',
    more: 'The request body is the JSON of the cell. Repeating the same write is safe. Another body at the same address is refused.',
    request: { schema: schema('Body'), example: BODY },
    answers: {
      201: {
        means: 'Stored: on the primary, readable.',
        schema: schema('CellPut'),
        example: { outcome: 'stored', ...ADDRESS, shard: 233, added_id: 17, created_at: CELL.created_at },
      },
      200: {
        means: 'Stored before: the same cell with an equal body was there already.',
        schema: schema('CellPut'),
        example: { outcome: 'stored_before', ...ADDRESS, shard: 233, added_id: 17, created_at: CELL.created_at },
      },
      202: {
        means: 'Buffered: kept on secondaries, not readable yet.',
        schema: schema('CellBuffered'),
        example: { outcome: 'buffered', ...ADDRESS, shard: 233, copies: 2 },
      },
    },
    problems: [
      ...OF_DATASTORE,
      ...OF_BODY,
      'conflict',
      'erased',
      'subject_forgotten',
      'body_too_large',
      'no_root_key',
      'undecodable_body',
    ],
    statuses: { erased: 409 },
  },
  getCell: {
    bodies: true,
    summary: 'Read one cell',
    query: ['read', 'minAddedId', 'sealed'],
    answers: { 200: { means: 'The cell.', schema: schema('ReadCell'), example: { ...CELL, ...SERVED } } },
    problems: [...OF_DATASTORE, 'invalid_field', 'cell_not_found', 'erased', 'no_root_key', 'undecodable_body'],
  },
  getLatestCell: {
    bodies: true,
    summary: 'Read the latest cell of a column',
    query: ['read', 'minAddedId', 'sealed'],
    answers: {
      200: { means: 'The cell with the highest ref key.', schema: schema('ReadCell'), example: { ...CELL, ...SERVED } },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'cell_not_found', 'erased', 'no_root_key', 'undecodable_body'],
  },
  listVersions: {
    bodies: true,
    summary: 'List the cells of a column',
    query: ['limit', 'order', 'afterRefKey', 'read', 'minAddedId', 'sealed'],
    answers: {
      200: {
        means: 'The cells; none when the column has none.',
        schema: schema('Versions'),
        example: { cells: [CELL], next: null, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'no_root_key', 'undecodable_body'],
  },
  getRow: {
    bodies: true,
    summary: 'Read the latest cell of each column of a row',
    query: ['column', 'afterColumn', 'read', 'minAddedId', 'sealed'],
    answers: {
      200: {
        means: 'The cells, by the bytes of their column names.',
        schema: schema('Row'),
        example: { cells: [CELL], next: null, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'no_root_key', 'undecodable_body'],
  },
} as const satisfies Record<string, Description>;
