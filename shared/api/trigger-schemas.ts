import { LIMITS } from '../cell.ts';
import { arrayOf, objectOf, orNull, schema, type Schema } from './schema.ts';

const COUNT: Schema = { type: 'integer', minimum: 0 };
const SECONDS: Schema = { type: 'number', minimum: 0 };
/** Of what happened in the functions, whose clocks count milliseconds. */
const WHEN: Schema = { type: 'string', format: 'date-time' };

const lagOf = (of: string, description: string): Schema => ({
  ...objectOf({
    cells: { ...COUNT, description: `Cells of any column that are not ${of} yet.` },
    seconds: { ...SECONDS, description: 'Age of the oldest of them; 0 where there is none.' },
    unknown_shards: {
      ...COUNT,
      description:
        'Shards that are not counted in: their group cannot be read, or the trigger has not begun with them.',
    },
  }),
  description,
});

const SWITCH = {
  trigger: { type: 'string' },
  state: {
    enum: ['running', 'paused', 'stopped'],
    description:
      '`paused`: an operator wants nothing sent nor consumed. `stopped`: the same, since too many cells are parked.',
  },
  reason: { ...orNull({ type: 'string' }), description: 'Why it does not run; null where nobody said.' },
  changed_at: { ...orNull(WHEN), description: 'Since when it runs, or does not; null while nobody has changed it.' },
  rewound_at: { ...orNull(schema('Time')), description: 'When it was last rewound; null where it never was.' },
  skipped: {
    ...orNull(schema('TriggerSkip')),
    description: 'What the last rewind skipped: cells that were not sent, and will not be. Null where it skipped none.',
  },
  resent: {
    ...orNull(schema('TriggerResend')),
    description:
      'The last time that all that was not known to be consumed was sent again, since its queue could not be trusted; null where it never was.',
  },
};

const SUMMARY = {
  ...SWITCH,
  columns: {
    oneOf: [arrayOf(schema('ColumnName')), { const: '*' }],
    description: 'Whose cells it is for; `*`: those of every column.',
  },
  function: {
    ...orNull({ type: 'string' }),
    description: 'The file of its handler; null where its consumer is elsewhere.',
  },
  start: {
    type: 'string',
    description: '`start`, `now`, or a time: where it began in the logs that were there before it.',
  },
  max_attempts: { type: 'integer', minimum: 1, description: 'Failures of one cell before it is parked.' },
  stop_after_parked: { type: 'integer', minimum: 1, description: 'So many cells parked now stop it.' },
  retry_parked_every_seconds: {
    ...orNull({ type: 'number', exclusiveMinimum: 0 }),
    description: 'How often parked cells are sent again by themselves; null: never.',
  },
  timeout_seconds: { type: 'number', exclusiveMinimum: 0, description: 'How long one call of the function may take.' },
  lag: lagOf(
    'known to be consumed',
    'How far consuming is behind the logs, at most: what is consumed is written down now and then, and what waits is counted by SQS, about.',
  ),
  sent: lagOf(
    'sent, or passed over,',
    'How far sending is behind the logs. Offsets are written up to three seconds late, so that some may be sent already.',
  ),
  waiting: {
    ...orNull(COUNT),
    description:
      'Messages on its queue, being consumed or not, as SQS counts them: about. Null while SQS does not say.',
  },
  dead: { ...orNull(COUNT), description: 'Messages that SQS gave up on, about. Null while SQS does not say.' },
  parked: { ...COUNT, description: 'Cells that are parked now.' },
  malformed: { ...COUNT, description: 'Messages that could not be read, and are kept.' },
  failing: { ...COUNT, description: 'Cells that failed, and are tried again.' },
  last_error: {
    ...orNull(schema('TriggerError')),
    description: 'What was last thrown for one of the failing and parked cells; null where there is none.',
  },
};

export const TRIGGER_SCHEMAS: Readonly<Record<string, Schema>> = {
  TriggerSwitch: objectOf(SWITCH),
  TriggerSkip: objectOf({
    cells: { ...COUNT, description: 'Of any column, of all shards.' },
    shards: COUNT,
  }),
  TriggerRewind: objectOf({
    ...SWITCH,
    dry_run: { type: 'boolean', description: 'Nothing was changed.' },
    skips: {
      ...arrayOf(
        objectOf({
          shard: schema('Shard'),
          after: { ...schema('AddedId'), description: 'Up to where cells were sent.' },
          to: { ...schema('AddedId'), description: 'The last one that is skipped.' },
          cells: { ...COUNT, description: 'Of any column.' },
        }),
      ),
      description:
        'The shards of which cells are skipped: neither sent nor to be sent. Offsets are written up to three seconds late, so that some may be sent already.',
    },
  }),
  TriggerSummary: objectOf(SUMMARY),
  TriggerResend: objectOf({
    why: { type: 'string' },
    asked_at: WHEN,
    done_at: { ...orNull(WHEN), description: 'Null while it is under way: nothing is sent or consumed until then.' },
    least_generation: {
      type: 'integer',
      minimum: 0,
      description:
        'Messages on its queue whose `generation` is lower are void: their cells were sent again since, behind them.',
    },
  }),
  TriggerError: objectOf({
    error: { type: 'string', description: 'Its first 500 characters.' },
    at: WHEN,
    shard: schema('Shard'),
    added_id: schema('AddedId'),
  }),
  DeadMessage: objectOf({
    message_id: { type: 'string', description: "The queue's own." },
    sent_at: { ...WHEN, description: 'When it was sent, or SQS moved it.' },
    cell: {
      ...orNull(
        objectOf({
          shard: schema('Shard'),
          added_id: schema('AddedId'),
          row_key: schema('RowKey'),
          column_name: schema('ColumnName'),
          ref_key: schema('RefKey'),
          created_at: schema('Time'),
        }),
      ),
      description: 'Null where it is no message of ours.',
    },
    resent: {
      type: 'boolean',
      description: 'Its cell was sent again since, with those before it: nothing is lost with it.',
    },
    body: {
      ...orNull({ type: 'string' }),
      description: 'Its first 1000 characters where it is no message of ours; else null.',
    },
  }),
  DeadPage: objectOf({
    messages: {
      ...arrayOf(schema('DeadMessage'), LIMITS.listCells),
      description: 'Of each shard the ten oldest at most: the queue gives no more of a group at once.',
    },
    count: { ...COUNT, description: 'In the last queue, shown or not, about.' },
  }),
  TriggerShard: objectOf({
    shard: schema('Shard'),
    offset: {
      ...orNull(schema('AddedId')),
      description: 'Up to which cells were sent, or passed over; null before it has begun here.',
    },
    consumed: {
      ...orNull(schema('AddedId')),
      description: 'Up to which cells are known to be consumed, or passed over; null before it has begun here.',
    },
    head: {
      ...orNull(schema('AddedId')),
      description: 'The last cell of the log; null while its group cannot be read.',
    },
    cells: {
      ...orNull(COUNT),
      description: 'Cells of any column that are not known to be consumed; null while nobody knows.',
    },
    seconds: { ...orNull(SECONDS), description: 'Age of the oldest of them; null while nobody knows.' },
    parked: COUNT,
    failing: COUNT,
  }),
  TriggerDetails: objectOf({
    ...SUMMARY,
    shards: arrayOf(schema('TriggerShard'), LIMITS.listCells),
    next: { ...orNull(schema('Shard')), description: 'Send it as `after` to go on; null at the end.' },
  }),
  ParkedCell: objectOf({
    shard: schema('Shard'),
    added_id: schema('AddedId'),
    row_key: schema('RowKey'),
    column_name: schema('ColumnName'),
    ref_key: schema('RefKey'),
    created_at: schema('Time'),
    attempts: { type: 'integer', minimum: 1 },
    first_failed_at: WHEN,
    last_failed_at: WHEN,
    last_error: { type: 'string', description: 'Its first 500 characters.' },
    parked_at: WHEN,
    round: { ...COUNT, description: 'How often it was sent again since it was parked.' },
    retry: {
      enum: ['wanted', 'sent', null],
      description:
        '`wanted`: to be sent again soon. `sent`: it was, and what came of it is not known yet. Null: neither.',
    },
    retried_at: { ...orNull(WHEN), description: 'When it was last sent again; null where it never was.' },
  }),
  MalformedMessage: objectOf({
    message_id: { type: 'string', description: "The queue's own." },
    body: { type: 'string', description: 'Its first 1000 characters.' },
    error: { type: 'string' },
    parked_at: WHEN,
  }),
  ParkedPage: objectOf({
    cells: { ...arrayOf(schema('ParkedCell'), LIMITS.listCells), description: 'By shard and added id.' },
    malformed: {
      ...arrayOf(schema('MalformedMessage'), LIMITS.listCells),
      description:
        'The newest messages of the queue that could not be read, by message id; only once all cells have come.',
    },
    next: { ...orNull({ type: 'string' }), description: 'Send it as `after` to go on; null at the end.' },
  }),
  ParkedChoice: objectOf({
    cells: {
      oneOf: [
        { const: '*' },
        {
          ...arrayOf(objectOf({ shard: schema('Shard'), added_id: { type: 'integer', minimum: 1 } }), LIMITS.listCells),
          minItems: 1,
        },
      ],
      description: 'Which of the parked cells; `*`: all of them.',
    },
  }),
};
