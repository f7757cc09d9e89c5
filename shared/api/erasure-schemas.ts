import { MOST_KEPT_VERSIONS } from '../definitions/definitions.ts';
import { arrayOf, objectOf, orNull, schema, type Schema } from './schema.ts';

const COUNT: Schema = { type: 'integer', minimum: 0 };
/** Of what happened in the functions, whose clocks count milliseconds. */
const WHEN: Schema = { type: 'string', format: 'date-time' };

/** From the widest to the narrowest. */
const SCOPES = ['row', 'column', 'versions', 'cell'] as const;

/** The most characters of a reason. */
export const REASON_LENGTH = 500;

const REASON: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: REASON_LENGTH,
  description: 'Kept for good, and shown to who reads the row: nothing that is itself to be forgotten.',
};

export const ERASURE_REQUEST: Schema = objectOf(
  {
    row_key: schema('RowKey'),
    column_name: { ...schema('ColumnName'), description: 'Of that column alone. All of the row when left out.' },
    ref_key: { ...schema('RefKey'), description: 'Of one version alone.' },
    up_to: { ...schema('RefKey'), description: 'Of that version and all before it. Not together with `ref_key`.' },
    reason: REASON,
  },
  ['column_name', 'ref_key', 'up_to'],
);

export const FORGET_REQUEST: Schema = objectOf(
  {
    subject: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'As the field says that names it in bodies; a UUID in either case. Either this, or `subject_name`.',
    },
    subject_name: {
      ...schema('SubjectName'),
      description: 'As a record says: to forget it once more, where the table of keys was set back.',
    },
    reason: REASON,
  },
  ['subject', 'subject_name'],
);

export const ERASURE_SCHEMAS: Readonly<Record<string, Schema>> = {
  SubjectName: {
    type: 'string',
    pattern: '^[0-9a-f]{32}$',
    description:
      'By a key of the datastore: it does not say who the subject is, and is the same whenever it is asked for.',
  },
  ForgottenSubject: objectOf({
    subject_name: schema('SubjectName'),
    reason: REASON,
    requested_by: { type: 'string', description: 'The caller as IAM knows it; `anybody` where calls are not signed.' },
    forgotten_at: WHEN,
    had_key: {
      type: 'boolean',
      description: 'False: there was no key to delete. Nothing was ever sealed for it, or the subject was misspelt.',
    },
    unreadable_from: { ...WHEN, description: 'From then on nobody reads, or writes, anything of it.' },
    key_in_backups_until: {
      ...orNull(WHEN),
      description:
        'Until when the table of keys can be set back to a moment at which its key was there; null where it cannot.',
    },
    not_reached: { ...arrayOf({ type: 'string' }), description: 'What is left of it that is no sealed value.' },
  }),
  ErasureId: { type: 'string', format: 'uuid', description: 'The same for the same target, whenever it is asked for.' },
  Erasure: objectOf({
    id: schema('ErasureId'),
    scope: { enum: SCOPES, description: 'What was erased: a row, a column, versions of it up to one, or a cell.' },
    row_key: schema('RowKey'),
    column_name: { ...orNull(schema('ColumnName')), description: 'Null of a row.' },
    ref_key: { ...orNull(schema('RefKey')), description: 'Of one cell; else null.' },
    up_to: { ...orNull(schema('RefKey')), description: 'Of versions: the last one that was erased; else null.' },
    shard: schema('Shard'),
    reason: REASON,
    requested_by: { type: 'string', description: 'The caller as IAM knows it; `anybody` where calls are not signed.' },
    requested_at: WHEN,
    state: { enum: ['erasing', 'erased'], description: '`erasing`: `waits_for` says what is missing.' },
    added_id: {
      ...orNull(schema('AddedId')),
      description:
        "The erasure's own place in the log; null as long as it is buffered, or where a wider one came before.",
    },
    cells: { ...COUNT, description: 'Bodies that were erased.' },
    bytes: { ...COUNT, description: 'Of them, as they were stored.' },
    erased_at: {
      ...orNull(WHEN),
      description: 'When it was done everywhere for the first time; it stays when it is asked for again.',
    },
    cleaned: {
      ...objectOf({
        bodies: orNull(WHEN),
        entries: orNull(WHEN),
        copies: orNull(WHEN),
        parked: orNull(WHEN),
        nodes: orNull(WHEN),
      }),
      description:
        'When which places were found clean the last time: the bodies on the writer, index entries, buffered copies, parked cells, every node that could become the writer.',
    },
    waits_for: { ...orNull({ type: 'string' }), description: 'What is not clean yet, and why.' },
    backups_until: {
      ...orNull(WHEN),
      description:
        'Until when backups and binary logs may hold what was erased, counted from when it was last found done; null until it is, and where nobody knows.',
    },
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
  }),
};
