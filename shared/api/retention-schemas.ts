import { MOST_KEPT_VERSIONS } from '../definitions/definitions.ts';
import { REASON_LENGTH } from './erasure-schemas.ts';
import { arrayOf, objectOf, orNull, schema, type Schema } from './schema.ts';

const COUNT: Schema = { type: 'integer', minimum: 0 };
/** Of what happened in the functions, whose clocks count milliseconds. */
const WHEN: Schema = { type: 'string', format: 'date-time' };
const WHO: Schema = {
  type: 'string',
  description: 'The caller as IAM knows it; `anybody` where calls are not signed.',
};

const HOLD: Schema = {
  type: 'string',
  pattern: '^[A-Za-z0-9._:/-]{1,128}$',
  description: 'Its name: as that of a case. Several may be of the same row.',
};
const SUBJECT: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'Whom sealed fields are of, by their name. Either this or `row_key`.',
};
const REASON: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: REASON_LENGTH,
  description: 'Kept until it is released.',
};

export const HOLD_REQUEST: Schema = objectOf(
  {
    hold: HOLD,
    row_key: { ...schema('RowKey'), description: 'The row that is held. Either this or `subject`.' },
    subject: SUBJECT,
    reason: REASON,
  },
  ['row_key', 'subject'],
);

/** The schemas of retention, holds and purges, by name. */
export const RETENTION_SCHEMAS: Readonly<Record<string, Schema>> = {
  HoldName: HOLD,
  Subject: SUBJECT,
  Hold: objectOf({
    hold: HOLD,
    row_key: { ...orNull(schema('RowKey')), description: 'Null of a subject.' },
    subject: { ...orNull(schema('Subject')), description: 'Null of a row.' },
    reason: REASON,
    requested_by: WHO,
    requested_at: WHEN,
  }),
  RetentionRule: {
    ...objectOf(
      {
        column: { type: 'string', description: '`*`: each column that has no rule of its own.' },
        keep_versions: { type: 'integer', minimum: 1, maximum: MOST_KEPT_VERSIONS },
        keep_for_seconds: { type: 'number', minimum: 1 },
      },
      ['keep_versions', 'keep_for_seconds'],
    ),
    description: 'How long cells of a column are kept: so many versions, or so long, or both.',
  },
  Retention: objectOf({
    rules: { ...arrayOf(schema('RetentionRule')), description: 'None: cells are kept for good.' },
    columns: {
      ...arrayOf(
        objectOf({
          column: { type: 'string' },
          id: { ...schema('ErasureId'), description: 'Of the erasures of the column, in logs and answers.' },
          days: arrayOf(
            objectOf({
              day: { type: 'string', format: 'date', description: 'By UTC.' },
              erasures: { ...COUNT, description: 'Each of a row.' },
              cells: { ...COUNT, description: 'Bodies that were erased.' },
              bytes: { ...COUNT, description: 'Of them, as they were stored.' },
              from: WHEN,
              to: WHEN,
            }),
          ),
        }),
      ),
      description: 'What was erased, by column and day; the newest last.',
    },
    behind_seconds: {
      ...orNull(COUNT),
      description: 'How long erasing is overdue: 0 as a rule. Null where nobody has looked yet.',
    },
    open: { ...COUNT, description: 'Erasures that are not done everywhere yet.' },
    waits_for: { ...orNull({ type: 'string' }), description: 'What the first of them waits for.' },
    purge: { ...orNull(schema('Purge')), description: 'The last one that was asked for.' },
  }),
  Purge: objectOf({
    state: { enum: ['purging', 'purged'] },
    requested_by: WHO,
    requested_at: WHEN,
    purged_at: { ...orNull(WHEN), description: 'Null until it is done.' },
    tables: { ...COUNT, description: 'That were written anew.' },
    of: { ...COUNT, description: 'All that there are, as far as groups answered.' },
    bytes_before: {
      ...COUNT,
      description: "Of the tables that were written anew, as the servers' statistics have it.",
    },
    bytes_after: COUNT,
    waits_for: { ...orNull({ type: 'string' }), description: 'Groups that cannot be worked on now, and why.' },
    logs_left: {
      ...orNull({ type: 'string' }),
      description: "Groups whose servers' own logs were not written over, and why; null where there is none.",
    },
  }),
};
