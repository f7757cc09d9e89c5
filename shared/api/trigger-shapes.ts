import { LIMITS } from '../cell.ts';
import { integer, items, members } from './input.ts';
import {
  always,
  COUNT,
  either,
  DECIMAL as SECONDS,
  FLAG,
  list,
  named,
  nextOf,
  object,
  oneOf,
  orNull,
  described,
  shape,
  TEXT,
  WHEN,
  type Input,
  type Of,
} from './shape.ts';
import { ADDED_ID, ADDRESS_MEMBERS, COLUMN_NAME, SHARD, TIME } from './words.ts';

/** The shapes of answers about triggers. */

const POSITIVE = shape<number>({ type: 'integer', minimum: 1 });
const SPAN = shape<number>({ type: 'number', exclusiveMinimum: 0 });
const PLACE = integer(1, Number.MAX_SAFE_INTEGER, 'an added id, 1 to 2^53-1');

/** Declares how far something is behind the logs. */
const lagOf = (of: string, description: string) =>
  described(
    object({
      cells: described(COUNT, `Cells of any column that are not ${of} yet.`),
      seconds: described(SECONDS, 'Age of the oldest of them; 0 if there is none.'),
      unknown_shards: described(
        COUNT,
        'Shards that are not counted: their group cannot be read, or the trigger has not begun there.',
      ),
    }),
    description,
  );

const SKIP = named('TriggerSkip', object({ cells: described(COUNT, 'Of any column, of all shards.'), shards: COUNT }));

const RESEND = named(
  'TriggerResend',
  object({
    why: TEXT,
    asked_at: WHEN,
    done_at: described(orNull(WHEN), 'Null while it is under way: nothing is sent or consumed until then.'),
    least_generation: described(
      COUNT,
      'Messages on its queue with a lower `generation` are void: their cells were sent again after them.',
    ),
  }),
);

const ERROR = named(
  'TriggerError',
  object({ error: described(TEXT, 'Its first 500 characters.'), at: WHEN, shard: SHARD, added_id: ADDED_ID }),
);

const SWITCH_FIELDS = {
  trigger: TEXT,
  state: described(
    oneOf('running', 'paused', 'stopped'),
    '`paused`: an operator halted sending and consuming. `stopped`: both halted since too many cells are parked.',
  ),
  reason: described(orNull(TEXT), 'Why it does not run; null if no reason was given.'),
  changed_at: described(orNull(WHEN), 'When `state` last changed; null if it never did.'),
  rewound_at: described(orNull(TIME), 'When it was last rewound; null if never.'),
  skipped: described(
    orNull(SKIP),
    'Cells that the last rewind skipped: they were not sent, and will not be. Null if none.',
  ),
  resent: described(
    orNull(RESEND),
    'The last time that all cells not known to be consumed were sent again, since its queue could not be trusted; null if never.',
  ),
};

export const SWITCH = named('TriggerSwitch', object(SWITCH_FIELDS));

export const REWIND = named(
  'TriggerRewind',
  object({
    ...SWITCH_FIELDS,
    dry_run: described(FLAG, 'Nothing was changed.'),
    skips: described(
      list(
        object({
          shard: SHARD,
          after: described(ADDED_ID, 'The last added id sent.'),
          to: described(ADDED_ID, 'The last added id skipped.'),
          cells: described(COUNT, 'Of any column.'),
        }),
      ),
      'The shards with skipped cells, neither sent nor to be sent. Offsets are written up to three seconds late, so some may be sent already.',
    ),
  }),
);

const SUMMARY_FIELDS = {
  ...SWITCH_FIELDS,
  columns: described(either(list(COLUMN_NAME), always('*')), 'The columns whose cells it takes; `*`: every column.'),
  function: described(orNull(TEXT), 'The file of its handler; null if its consumer is elsewhere.'),
  start: described(TEXT, '`start`, `now`, or a time: where it began in logs that existed before it.'),
  max_attempts: described(POSITIVE, 'Failures of one cell before it is parked.'),
  stop_after_parked: described(POSITIVE, 'The number of parked cells that stops it.'),
  retry_parked_every_seconds: described(
    orNull(SPAN),
    'How often parked cells are sent again automatically; null: never.',
  ),
  timeout_seconds: described(SPAN, 'How long one call of the function may take.'),
  lag: lagOf(
    'known to be consumed',
    'How far consuming is behind the logs, at most: consumed cells are recorded now and then, and SQS counts waiting messages approximately.',
  ),
  sent: lagOf(
    'sent or passed over',
    'How far sending is behind the logs. Offsets are written up to three seconds late, so some may be sent already.',
  ),
  waiting: described(
    orNull(COUNT),
    'Messages on its queue, being consumed or not, approximately, as SQS counts them. Null while SQS does not say.',
  ),
  dead: described(orNull(COUNT), 'Messages in the dead-letter queue, approximately. Null while SQS does not say.'),
  parked: described(COUNT, 'Cells that are parked now.'),
  malformed: described(COUNT, 'Messages that could not be read, and are kept.'),
  failing: described(COUNT, 'Cells that failed, and are tried again.'),
  last_error: described(orNull(ERROR), 'The last error of a failing or parked cell; null if there is none.'),
};

export const SUMMARY = named('TriggerSummary', object(SUMMARY_FIELDS));

const TRIGGER_SHARD = named(
  'TriggerShard',
  object({
    shard: SHARD,
    offset: described(orNull(ADDED_ID), 'The last added id sent or passed over; null before it has begun here.'),
    consumed: described(
      orNull(ADDED_ID),
      'The last added id known to be consumed, or passed over; null before it has begun here.',
    ),
    head: described(orNull(ADDED_ID), 'The last added id of the log; null while its group cannot be read.'),
    cells: described(orNull(COUNT), 'Cells of any column that are not known to be consumed; null while unknown.'),
    seconds: described(orNull(SECONDS), 'Age of the oldest of them; null while unknown.'),
    parked: COUNT,
    failing: COUNT,
  }),
);

export const DETAILS = named(
  'TriggerDetails',
  object({
    ...SUMMARY_FIELDS,
    shards: list(TRIGGER_SHARD, LIMITS.listCells),
    next: nextOf(SHARD),
  }),
);

const LOGGED = { shard: SHARD, added_id: ADDED_ID, ...ADDRESS_MEMBERS, created_at: TIME };

const PARKED_CELL = named(
  'ParkedCell',
  object({
    ...LOGGED,
    attempts: POSITIVE,
    first_failed_at: WHEN,
    last_failed_at: WHEN,
    last_error: described(TEXT, 'Its first 500 characters.'),
    parked_at: WHEN,
    round: described(COUNT, 'How often it was sent again since it was parked.'),
    retry: described(
      oneOf('wanted', 'sent', null),
      '`wanted`: it will be sent again soon. `sent`: it was, and the result is not known yet. Null: neither.',
    ),
    retried_at: described(orNull(WHEN), 'When it was last sent again; null if never.'),
  }),
);

const MALFORMED_MESSAGE = named(
  'MalformedMessage',
  object({
    message_id: described(TEXT, "The queue's own."),
    body: described(TEXT, 'Its first 1000 characters.'),
    error: TEXT,
    parked_at: WHEN,
  }),
);

export const PARKED_PAGE = named(
  'ParkedPage',
  object({
    cells: described(list(PARKED_CELL, LIMITS.listCells), 'By shard and added id.'),
    malformed: described(
      list(MALFORMED_MESSAGE, LIMITS.listCells),
      'The newest messages of the queue that could not be read, by message id; only after all cells.',
    ),
    next: nextOf(TEXT),
  }),
);

const DEAD_MESSAGE = named(
  'DeadMessage',
  object({
    message_id: described(TEXT, "The queue's own."),
    sent_at: described(WHEN, 'When it was sent, or SQS moved it.'),
    cell: described(orNull(object(LOGGED)), 'Null if it is not a message of this store.'),
    resent: described(FLAG, 'Its cell was sent again since, with those before it: to delete it loses nothing.'),
    body: described(orNull(TEXT), 'Its first 1000 characters if it is not a message of this store; otherwise null.'),
  }),
);

export const DEAD_PAGE = named(
  'DeadPage',
  object({
    messages: described(
      list(DEAD_MESSAGE, LIMITS.listCells),
      'At most the ten oldest of each shard: the queue returns no more of a message group at once.',
    ),
    count: described(COUNT, 'In the dead-letter queue, shown or not, approximately.'),
  }),
);

const LOCATION = members({ shard: SHARD, added_id: PLACE });
const WANTED_CHOICE = `"*" for all, or an array of 1 to ${LIMITS.listCells} cells`;
const LOCATIONS = items(LOCATION, LIMITS.listCells, 1, WANTED_CHOICE);

/** Requires a choice: only `"*"` means all. */
const CHOICE: Input<readonly Of<typeof LOCATION>[] | '*'> = {
  describe: (components) => ({
    oneOf: [{ const: '*' }, LOCATIONS.describe(components)],
    description: 'The parked cells; `*`: all of them.',
  }),
  read: (given, field) => (given === '*' ? given : LOCATIONS.read(given, field)),
};
export const PARKED_CHOICE = named('ParkedChoice', members({ cells: CHOICE }));

export const NOT_PARKED = described(
  list(object({ shard: SHARD, added_id: PLACE })),
  'The named cells that are not parked.',
);

export type TriggerSwitch = Of<typeof SWITCH>;
export type TriggerState = TriggerSwitch['state'];
export type TriggerRewind = Of<typeof REWIND>;
export type TriggerSummary = Of<typeof SUMMARY>;
export type TriggerDetails = Of<typeof DETAILS>;
export type TriggerShard = Of<typeof TRIGGER_SHARD>;
export type TriggerLag = TriggerSummary['lag'];
export type TriggerError = Of<typeof ERROR>;
export type TriggerSkip = Of<typeof SKIP>;
export type ShardSkip = TriggerRewind['skips'][number];
export type ParkedCell = Of<typeof PARKED_CELL>;
export type ParkedPage = Of<typeof PARKED_PAGE>;
export type ParkedChoice = Of<typeof PARKED_CHOICE>['cells'];
export type MalformedMessage = Of<typeof MALFORMED_MESSAGE>;
export type DeadMessageShown = Of<typeof DEAD_MESSAGE>;
export type DeadPage = Of<typeof DEAD_PAGE>;
export type CellLocation = Of<typeof LOCATION>;
