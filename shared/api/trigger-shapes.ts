import { LIMITS } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { integer, items, members } from './input.ts';
import {
  always,
  COUNT,
  either,
  FIGURE as SECONDS,
  FLAG,
  list,
  named,
  object,
  oneOf,
  orNull,
  said,
  shape,
  TEXT,
  WHEN,
  type Input,
  type Of,
} from './shape.ts';
import { ADDED_ID, COLUMN_NAME, REF_KEY, ROW_KEY, SHARD, TIME } from './words.ts';

/** What is answered of triggers. */

const POSITIVE = shape<number>({ type: 'integer', minimum: 1 });
const SPAN = shape<number>({ type: 'number', exclusiveMinimum: 0 });
const PLACE = integer(1, Number.MAX_SAFE_INTEGER, 'an added id, 1 to 2^53-1');

/** Something that is behind the logs. */
const lagOf = (of: string, description: string) =>
  said(
    object({
      cells: said(COUNT, `Cells of any column that are not ${of} yet.`),
      seconds: said(SECONDS, 'Age of the oldest of them; 0 where there is none.'),
      unknown_shards: said(
        COUNT,
        'Shards that are not counted in: their group cannot be read, or the trigger has not begun with them.',
      ),
    }),
    description,
  );

const SKIP = named('TriggerSkip', object({ cells: said(COUNT, 'Of any column, of all shards.'), shards: COUNT }));

const RESEND = named(
  'TriggerResend',
  object({
    why: TEXT,
    asked_at: WHEN,
    done_at: said(orNull(WHEN), 'Null while it is under way: nothing is sent or consumed until then.'),
    least_generation: said(
      COUNT,
      'Messages on its queue whose `generation` is lower are void: their cells were sent again since, behind them.',
    ),
  }),
);

const ERROR = named(
  'TriggerError',
  object({ error: said(TEXT, 'Its first 500 characters.'), at: WHEN, shard: SHARD, added_id: ADDED_ID }),
);

const SWITCH_FIELDS = {
  trigger: TEXT,
  state: said(
    oneOf('running', 'paused', 'stopped'),
    '`paused`: an operator wants nothing sent nor consumed. `stopped`: the same, since too many cells are parked.',
  ),
  reason: said(orNull(TEXT), 'Why it does not run; null where nobody said.'),
  changed_at: said(orNull(WHEN), 'Since when it runs, or does not; null while nobody has changed it.'),
  rewound_at: said(orNull(TIME), 'When it was last rewound; null where it never was.'),
  skipped: said(
    orNull(SKIP),
    'What the last rewind skipped: cells that were not sent, and will not be. Null where it skipped none.',
  ),
  resent: said(
    orNull(RESEND),
    'The last time that all that was not known to be consumed was sent again, since its queue could not be trusted; null where it never was.',
  ),
};

export const SWITCH = named('TriggerSwitch', object(SWITCH_FIELDS));

export const REWIND = named(
  'TriggerRewind',
  object({
    ...SWITCH_FIELDS,
    dry_run: said(FLAG, 'Nothing was changed.'),
    skips: said(
      list(
        object({
          shard: SHARD,
          after: said(ADDED_ID, 'Up to where cells were sent.'),
          to: said(ADDED_ID, 'The last one that is skipped.'),
          cells: said(COUNT, 'Of any column.'),
        }),
      ),
      'The shards of which cells are skipped: neither sent nor to be sent. Offsets are written up to three seconds late, so that some may be sent already.',
    ),
  }),
);

const SUMMARY_FIELDS = {
  ...SWITCH_FIELDS,
  columns: said(either(list(COLUMN_NAME), always('*')), 'Whose cells it is for; `*`: those of every column.'),
  function: said(orNull(TEXT), 'The file of its handler; null where its consumer is elsewhere.'),
  start: said(TEXT, '`start`, `now`, or a time: where it began in the logs that were there before it.'),
  max_attempts: said(POSITIVE, 'Failures of one cell before it is parked.'),
  stop_after_parked: said(POSITIVE, 'So many cells parked now stop it.'),
  retry_parked_every_seconds: said(orNull(SPAN), 'How often parked cells are sent again by themselves; null: never.'),
  timeout_seconds: said(SPAN, 'How long one call of the function may take.'),
  lag: lagOf(
    'known to be consumed',
    'How far consuming is behind the logs, at most: what is consumed is written down now and then, and what waits is counted by SQS, about.',
  ),
  sent: lagOf(
    'sent, or passed over,',
    'How far sending is behind the logs. Offsets are written up to three seconds late, so that some may be sent already.',
  ),
  waiting: said(
    orNull(COUNT),
    'Messages on its queue, being consumed or not, as SQS counts them: about. Null while SQS does not say.',
  ),
  dead: said(orNull(COUNT), 'Messages that SQS gave up on, about. Null while SQS does not say.'),
  parked: said(COUNT, 'Cells that are parked now.'),
  malformed: said(COUNT, 'Messages that could not be read, and are kept.'),
  failing: said(COUNT, 'Cells that failed, and are tried again.'),
  last_error: said(
    orNull(ERROR),
    'What was last thrown for one of the failing and parked cells; null where there is none.',
  ),
};

export const SUMMARY = named('TriggerSummary', object(SUMMARY_FIELDS));

const TRIGGER_SHARD = named(
  'TriggerShard',
  object({
    shard: SHARD,
    offset: said(orNull(ADDED_ID), 'Up to which cells were sent, or passed over; null before it has begun here.'),
    consumed: said(
      orNull(ADDED_ID),
      'Up to which cells are known to be consumed, or passed over; null before it has begun here.',
    ),
    head: said(orNull(ADDED_ID), 'The last cell of the log; null while its group cannot be read.'),
    cells: said(orNull(COUNT), 'Cells of any column that are not known to be consumed; null while nobody knows.'),
    seconds: said(orNull(SECONDS), 'Age of the oldest of them; null while nobody knows.'),
    parked: COUNT,
    failing: COUNT,
  }),
);

export const DETAILS = named(
  'TriggerDetails',
  object({
    ...SUMMARY_FIELDS,
    shards: list(TRIGGER_SHARD, LIMITS.listCells),
    next: said(orNull(SHARD), 'Send it as `after` to go on; null at the end.'),
  }),
);

const PARKED_CELL = named(
  'ParkedCell',
  object({
    shard: SHARD,
    added_id: ADDED_ID,
    row_key: ROW_KEY,
    column_name: COLUMN_NAME,
    ref_key: REF_KEY,
    created_at: TIME,
    attempts: POSITIVE,
    first_failed_at: WHEN,
    last_failed_at: WHEN,
    last_error: said(TEXT, 'Its first 500 characters.'),
    parked_at: WHEN,
    round: said(COUNT, 'How often it was sent again since it was parked.'),
    retry: said(
      oneOf('wanted', 'sent', null),
      '`wanted`: to be sent again soon. `sent`: it was, and what came of it is not known yet. Null: neither.',
    ),
    retried_at: said(orNull(WHEN), 'When it was last sent again; null where it never was.'),
  }),
);

const MALFORMED_MESSAGE = named(
  'MalformedMessage',
  object({
    message_id: said(TEXT, "The queue's own."),
    body: said(TEXT, 'Its first 1000 characters.'),
    error: TEXT,
    parked_at: WHEN,
  }),
);

export const PARKED_PAGE = named(
  'ParkedPage',
  object({
    cells: said(list(PARKED_CELL, LIMITS.listCells), 'By shard and added id.'),
    malformed: said(
      list(MALFORMED_MESSAGE, LIMITS.listCells),
      'The newest messages of the queue that could not be read, by message id; only once all cells have come.',
    ),
    next: said(orNull(TEXT), 'Send it as `after` to go on; null at the end.'),
  }),
);

const DEAD_MESSAGE = named(
  'DeadMessage',
  object({
    message_id: said(TEXT, "The queue's own."),
    sent_at: said(WHEN, 'When it was sent, or SQS moved it.'),
    cell: said(
      orNull(
        object({
          shard: SHARD,
          added_id: ADDED_ID,
          row_key: ROW_KEY,
          column_name: COLUMN_NAME,
          ref_key: REF_KEY,
          created_at: TIME,
        }),
      ),
      'Null where it is no message of ours.',
    ),
    resent: said(FLAG, 'Its cell was sent again since, with those before it: nothing is lost with it.'),
    body: said(orNull(TEXT), 'Its first 1000 characters where it is no message of ours; else null.'),
  }),
);

export const DEAD_PAGE = named(
  'DeadPage',
  object({
    messages: said(
      list(DEAD_MESSAGE, LIMITS.listCells),
      'Of each shard the ten oldest at most: the queue gives no more of a group at once.',
    ),
    count: said(COUNT, 'In the last queue, shown or not, about.'),
  }),
);

const LOCATION = members({ shard: SHARD, added_id: PLACE });
const WANTED_CHOICE = `"*" for all, or an array of 1 to ${LIMITS.listCells} cells`;
const LOCATIONS = items(LOCATION, LIMITS.listCells, 1);

/** No choice means none: all of them go only by `"*"`. */
const CHOICE: Input<readonly Of<typeof LOCATION>[] | '*'> = {
  describe: (components) => ({
    oneOf: [{ const: '*' }, LOCATIONS.describe(components)],
    description: 'Which of the parked cells; `*`: all of them.',
  }),
  read(given, field) {
    if (given === '*') return given;
    if (given === undefined) throw missingField(field, WANTED_CHOICE);
    if (!Array.isArray(given)) throw invalidField(field, WANTED_CHOICE, given);
    if (given.length === 0 || given.length > LIMITS.listCells) throw invalidField(field, WANTED_CHOICE, given.length);
    return LOCATIONS.read(given, field);
  },
};
export const PARKED_CHOICE = named('ParkedChoice', members({ cells: CHOICE }));

export const NOT_PARKED = said(
  list(object({ shard: SHARD, added_id: PLACE })),
  'Those of the cells named that are not parked.',
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
