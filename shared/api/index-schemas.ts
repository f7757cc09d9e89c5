import { FIELD_TYPES } from '../definitions/definitions.ts';
import { arrayOf, objectOf, orNull, schema, SERVED, type Schema } from './schema.ts';

/** How far the build of an index is. */
export const PROGRESS = orNull(
  objectOf({
    done: { type: 'integer', minimum: 0, description: 'Cells looked at.' },
    total: { type: 'integer', minimum: 0, description: 'Cells there are.' },
  }),
);

export const INDEX_SCHEMAS: Readonly<Record<string, Schema>> = {
  FieldValue: {
    type: ['string', 'number', 'boolean', 'null'],
    description: 'A UUID in lower case, a time in UTC with six decimals; null where the row has no value of the type.',
  },
  IndexEntry: objectOf(
    {
      row_key: schema('RowKey'),
      fields: {
        type: 'object',
        additionalProperties: schema('FieldValue'),
        description: 'The fields asked for, by their names in the definition; null of those that are sealed.',
      },
      cells: {
        oneOf: [arrayOf(schema('Cell')), schema('ItemError')],
        description:
          'Only where columns were asked for: the latest cells that the row has, or why they could not be read.',
      },
    },
    ['cells'],
  ),
  Explanation: objectOf({
    shard: schema('Shard'),
    group: { type: 'string' },
    statement: { type: 'string' },
    plan: { description: 'As the database explains it; each engine in its own form.' },
  }),
  IndexAnswer: objectOf(
    {
      entries: arrayOf(schema('IndexEntry')),
      next: { ...orNull({ type: 'string' }), description: 'Send it as `after` to go on; null at the end.' },
      ...SERVED,
      explain: schema('Explanation'),
    },
    ['explain'],
  ),
  IndexCounted: objectOf({
    count: { type: 'integer', minimum: 0, description: 'Entries that meet all conditions, `limit` at most.' },
    complete: { type: 'boolean', description: 'False: there are more than `count`.' },
    ...SERVED,
  }),
  IndexStatus: objectOf({
    index: { type: 'string' },
    table: { type: 'string', description: 'Its table in the database of each shard.' },
    state: {
      enum: ['building', 'live', 'changing'],
      description:
        '`building`: answers nothing yet. `changing`: the old definition answers while the new one is built.',
    },
    fields: {
      ...arrayOf(
        objectOf(
          {
            field: { type: 'string' },
            type: { enum: FIELD_TYPES },
            column_key: schema('ColumnName'),
            sealed: { const: true, description: 'Only there when its values are sealed: found by equality alone.' },
          },
          ['sealed'],
        ),
      ),
      description: 'The first is the shard field.',
    },
    keys: {
      ...arrayOf(arrayOf({ type: 'string' })),
      description: 'Keys beside those that each field has, each behind the shard field.',
    },
    progress: { ...PROGRESS, description: 'Of the build under way; null where there is none, or while nobody knows.' },
    lag: {
      ...orNull({ type: 'integer', minimum: 0 }),
      description: 'Cells that the repair is behind the logs; null while nobody knows.',
    },
    largest_share: {
      ...orNull({ type: 'number', minimum: 0, maximum: 1 }),
      description:
        "The largest shard's share of all entries: far above 1 / shards, the shard field spreads badly. Null while nobody knows.",
    },
    mistyped: {
      ...arrayOf(
        objectOf({
          field: { type: 'string' },
          rows: {
            type: 'integer',
            minimum: 1,
            description:
              "How often the repair found a row's latest cell to have the field with another type, since this definition was listed. It looks at a row some seconds after each write to it, and a build at each row once: a row that is written again is counted again, and one that was mended stays counted. A run that dies loses a few seconds of it.",
          },
          row_key: { ...schema('RowKey'), description: 'The row that was found last.' },
          at: { ...schema('Time'), description: 'When that was: whether it still goes on.' },
        }),
      ),
      description:
        'Fields that rows have with another type than `fields` says: such a value counts as null, and in the shard field the row has no entry. None when all fit.',
    },
  }),
};
