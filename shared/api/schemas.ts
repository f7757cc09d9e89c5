import { LIMITS } from '../cell.ts';
import { MOST_KEPT_VERSIONS } from '../definitions/definitions.ts';
import { ERASURE_SCHEMAS } from './erasure-schemas.ts';
import { INDEX_SCHEMAS } from './index-schemas.ts';
import { MOVE_SCHEMAS } from './move-schemas.ts';
import { PROBLEM_SCHEMAS, WHERE } from './problem-schemas.ts';
import { arrayOf, objectOf, orNull, schema, SERVED, type Schema } from './schema.ts';
import { TRIGGER_SCHEMAS } from './trigger-schemas.ts';

const CELL = {
  row_key: schema('RowKey'),
  column_name: schema('ColumnName'),
  ref_key: schema('RefKey'),
  body: schema('Body'),
  added_id: schema('AddedId'),
  shard: schema('Shard'),
  created_at: schema('Time'),
  erased: { const: true, description: 'Only there when the body was erased: it is null then.' },
  forgotten: {
    ...arrayOf({ type: 'string' }),
    description:
      'Only there when sealed fields cannot be read any more, since their subject was forgotten: their paths. They are null in `body`.',
  },
  body_sha256: {
    ...schema('Digest'),
    description: 'Only there when the body was erased: the SHA-256 of its JSON, for the digest of the log.',
  },
};

const NOTE = {
  id: schema('ErasureId'),
  scope: { enum: ['row', 'column', 'versions', 'cell'] },
  reason: { type: 'string' },
  why: {
    const: 'retention',
    description: 'Only there when nobody asked for it: the cells were out of their retention.',
  },
};

/** An erasure stands in logs at its own place. */
const ERASURE = {
  ...objectOf(NOTE, ['why']),
  description:
    'Only in logs: this is no cell but an erasure, of the cells of its row and column up to its ref key; of a row the column name is empty.',
};

/** In lists and logs a damaged cell keeps its place; reading it alone is an error. */
const DAMAGE = {
  ...schema('ErrorOfItem'),
  description: 'Only there when the stored body cannot be decoded: it is null then.',
};

/** Where a log read ended. */
const LOG = {
  cells: arrayOf(schema('Cell')),
  next: { ...schema('AddedId'), description: 'The last added id read: send it as `after` to go on.' },
  more: {
    type: 'boolean',
    description:
      'The log goes on behind `next`; false only where it was read to its end. With no cells: it had no room in the answer, or its next cell is not visible yet.',
  },
  ...SERVED,
};

const WHERE_AND_WHEN = {
  shard: schema('Shard'),
  added_id: schema('AddedId'),
  created_at: {
    ...schema('Time'),
    description:
      'When the cell that is there was stored; only where that is known, or was asked for and could be read.',
  },
};

/** The schemas of the document, by name. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  RowKey: { type: 'string', format: 'uuid', description: 'A UUID, in either case; answered in lower case.' },
  ColumnName: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.columnNameBytes,
    description: `1 to ${LIMITS.columnNameBytes} bytes of UTF-8, compared byte for byte.`,
  },
  ErasedBy: objectOf({ ...NOTE, erased_at: schema('Time') }, ['why']),
  RetentionRule: {
    ...objectOf(
      {
        column: { type: 'string' },
        keep_versions: { type: 'integer', minimum: 1, maximum: MOST_KEPT_VERSIONS },
        keep_for_seconds: { type: 'number', minimum: 1 },
      },
      ['keep_versions', 'keep_for_seconds'],
    ),
    description:
      'How long cells are kept; what either bound drops is dropped. Column *: all without a rule of their own.',
  },
  LoggedColumn: {
    type: 'string',
    maxLength: LIMITS.columnNameBytes,
    description: 'The column of the cell; empty of the erasure of a row.',
  },
  RefKey: {
    type: 'integer',
    minimum: 0,
    maximum: LIMITS.refKey,
    description: 'The version of the cell, or its place in a list. The latest cell has the highest.',
  },
  Body: {
    description: `Any JSON, up to ${LIMITS.bodyBytes} bytes and ${LIMITS.bodyDepth} levels deep. Integers from -2^63 to 2^64-1 are kept.`,
  },
  AddedId: {
    type: 'integer',
    minimum: 0,
    description: "A place in a shard's log: 1, 2, 3, … without holes, in commit order; 0 is the log's start.",
  },
  Shard: { type: 'integer', minimum: 0 },
  Time: { type: 'string', format: 'date-time', description: 'RFC 3339 with zone; answered in UTC with six decimals.' },
  Cell: objectOf({ ...CELL, column_name: schema('LoggedColumn'), error: DAMAGE, erasure: ERASURE }, [
    'erased',
    'forgotten',
    'body_sha256',
    'error',
    'erasure',
  ]),
  ReadCell: objectOf({ ...CELL, ...SERVED }, ['erased', 'forgotten', 'body_sha256']),
  CellPut: objectOf(
    {
      outcome: { enum: ['stored', 'stored_before'] },
      row_key: schema('RowKey'),
      column_name: schema('ColumnName'),
      ref_key: schema('RefKey'),
      ...WHERE_AND_WHEN,
    },
    ['created_at'],
  ),
  CellBuffered: objectOf({
    outcome: { const: 'buffered' },
    row_key: schema('RowKey'),
    column_name: schema('ColumnName'),
    ref_key: schema('RefKey'),
    shard: schema('Shard'),
    copies: { type: 'integer', minimum: 1 },
  }),
  PutResult: {
    oneOf: [
      objectOf({ outcome: { enum: ['stored', 'stored_before'] }, ...WHERE_AND_WHEN }, ['created_at']),
      objectOf({ outcome: { const: 'conflict' }, ...WHERE }),
      objectOf({ outcome: { const: 'erased' }, shard: schema('Shard') }),
      objectOf({ outcome: { const: 'subject_forgotten' }, shard: schema('Shard'), field: { type: 'string' } }),
      objectOf({ outcome: { const: 'buffered' }, shard: schema('Shard'), copies: { type: 'integer', minimum: 1 } }),
      objectOf({ outcome: { const: 'unavailable' }, shard: schema('Shard'), reason: { type: 'string' } }),
    ],
  },
  Versions: objectOf({
    cells: arrayOf(schema('Cell')),
    next: { ...orNull(schema('RefKey')), description: 'Send it as `after` to go on; null at the end.' },
    ...SERVED,
  }),
  Row: objectOf({
    cells: arrayOf(schema('Cell')),
    next: { ...orNull(schema('ColumnName')), description: 'Send it as `after` to go on; null at the end.' },
    ...SERVED,
  }),
  AnswerOfMany: orNull(
    objectOf({
      status: { type: 'integer' },
      body: { type: 'object', description: 'Of the status 200, what a GET answers; of any other, a problem.' },
    }),
  ),
  BatchItem: { oneOf: [schema('ReadCell'), { type: 'null' }, schema('ItemError')] },
  Log: objectOf(LOG),
  ShardLog: {
    oneOf: [
      objectOf({ shard: schema('Shard'), ...LOG }),
      objectOf({ shard: schema('Shard'), error: schema('ErrorOfItem') }),
    ],
  },
  ShardHead: {
    oneOf: [
      objectOf({
        shard: schema('Shard'),
        group: { type: 'string' },
        head: { ...schema('AddedId'), description: 'The added id of its last cell, 0 when it is empty.' },
      }),
      objectOf({ shard: schema('Shard'), group: { type: 'string' }, error: schema('ErrorOfItem') }),
    ],
  },
  Digest: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of a log, in hexadecimal.' },
  ShardDigest: objectOf({
    shard: schema('Shard'),
    at: { ...schema('AddedId'), description: 'The place that it is of: as far as this answer came.' },
    digest: schema('Digest'),
    more: {
      type: 'boolean',
      description:
        'The place that was asked for lies beyond: there was no time, or who answered does not show it. Send `at` as `after`, and `digest`, to go on.',
    },
    ...SERVED,
  }),
  ...INDEX_SCHEMAS,
  ...TRIGGER_SCHEMAS,
  ...MOVE_SCHEMAS,
  ...ERASURE_SCHEMAS,
  GroupBuffer: {
    oneOf: [
      objectOf({
        group: { type: 'string' },
        rows: { type: 'integer', description: 'A million, of this or another count: that many or more.' },
        oldest_age: {
          type: ['number', 'null'],
          description: "Seconds, by the group's own clock; null when none waits.",
        },
        parked: { type: 'integer' },
        conflicts: { type: 'integer' },
        undecided: { type: 'integer' },
      }),
      objectOf({ group: { type: 'string' }, error: schema('ErrorOfItem') }),
    ],
  },
  BufferConflict: objectOf({
    id: { type: 'string' },
    row_key: schema('RowKey'),
    column_name: schema('ColumnName'),
    ref_key: schema('RefKey'),
    body: schema('Body'),
    shard: schema('Shard'),
    created_at: schema('Time'),
  }),
  NodeHealth: objectOf(
    {
      state: { enum: ['up', 'down'] },
      served_by: {
        enum: ['writer', 'reader'],
        description: 'Who answers what is asked of this role: the writer, where readers cannot be reached.',
      },
      milliseconds: { type: 'number' },
      circuit: { enum: ['closed', 'open'] },
      error: { type: 'string' },
    },
    ['error'],
  ),
  Health: objectOf({
    status: { enum: ['ok', 'degraded', 'down'], description: '`ok`: every node answers. `down`: none does.' },
    version: { type: 'string', description: 'Of the store.' },
    instance: { type: 'string', description: 'The instance that answered; each looks for itself.' },
    groups: arrayOf(
      objectOf({ group: { type: 'string' }, writer: schema('NodeHealth'), reader: schema('NodeHealth') }),
    ),
  }),
  ...PROBLEM_SCHEMAS,
};
