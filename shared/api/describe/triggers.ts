import { arrayOf, objectOf, schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { ADDRESS, CELL } from './examples.ts';

const SWITCH = {
  trigger: 'bill_rider',
  state: 'running',
  reason: null,
  changed_at: null,
  rewound_at: null,
  skipped: null,
  resent: null,
} as const;
const PAUSED = {
  ...SWITCH,
  state: 'paused',
  reason: 'the card service is down',
  changed_at: '2026-01-31T09:00:00.000Z',
} as const;

const SUMMARY = {
  ...SWITCH,
  columns: ['BASE'],
  function: 'functions/examples/bill-rider.ts',
  start: 'start',
  max_attempts: 5,
  stop_after_parked: 100,
  retry_parked_every_seconds: 600,
  timeout_seconds: 30,
  lag: { cells: 3, seconds: 0.04, unknown_shards: 0 },
  sent: { cells: 1, seconds: 0.01, unknown_shards: 0 },
  waiting: 2,
  dead: 0,
  parked: 1,
  malformed: 0,
  failing: 0,
  last_error: {
    error: 'Error: the card was refused',
    at: '2026-01-31T08:00:15.900Z',
    shard: CELL.shard,
    added_id: CELL.added_id,
  },
} as const;

const PARKED = {
  shard: CELL.shard,
  added_id: CELL.added_id,
  ...ADDRESS,
  created_at: CELL.created_at,
  attempts: 5,
  first_failed_at: '2026-01-31T08:00:00.200Z',
  last_failed_at: '2026-01-31T08:00:15.900Z',
  last_error: 'Error: the card was refused',
  parked_at: '2026-01-31T08:00:15.900Z',
  round: 0,
  retry: null,
  retried_at: null,
} as const;

const DEAD = {
  message_id: '5fea7756-0ea4-451a-a703-a558b933e274',
  sent_at: '2026-01-31T08:00:00.300Z',
  cell: { shard: CELL.shard, added_id: CELL.added_id, ...ADDRESS, created_at: CELL.created_at },
  resent: false,
  body: null,
} as const;

const OF_TRIGGER = [...OF_DATASTORE, 'unknown_trigger'] as const;
const CHOICE = {
  schema: schema('ParkedChoice'),
  example: { cells: [{ shard: CELL.shard, added_id: CELL.added_id }] },
} as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const LEFT = {
  ...COUNT,
  description: 'Left in the last queue, about: hidden from this request, or more than it had time for. Repeat it.',
} as const;
const NOT_PARKED = {
  ...arrayOf(objectOf({ shard: schema('Shard'), added_id: { type: 'integer', minimum: 1 } })),
  description: 'Those of the cells named that are not parked.',
};

/** The routes of those who run triggers. */
export const TRIGGERS = {
  listTriggers: {
    summary: 'List the triggers',
    more: 'Definitions, states, how far they are behind, and how many cells are parked.',
    answers: {
      200: {
        means: 'Every trigger, by name.',
        schema: objectOf({ triggers: arrayOf(schema('TriggerSummary')) }),
        example: { triggers: [SUMMARY] },
      },
    },
    problems: OF_DATASTORE,
  },
  getTrigger: {
    summary: 'See one trigger, and how far it is with each shard',
    query: ['limit', 'afterShard'],
    answers: {
      200: {
        means: 'The trigger, with a page of its shards.',
        schema: schema('TriggerDetails'),
        example: {
          ...SUMMARY,
          shards: [{ shard: 0, offset: 16, consumed: 14, head: 17, cells: 3, seconds: 0.04, parked: 0, failing: 0 }],
          next: 0,
        },
      },
    },
    problems: [...OF_TRIGGER, 'invalid_field', 'unknown_shard'],
  },
  pauseTrigger: {
    summary: 'Halt sending and consuming',
    more: 'Queued messages stay. Whoever works for the trigger notices within some two seconds.',
    request: {
      schema: objectOf({ reason: { type: 'string', minLength: 1, maxLength: 500 } }, ['reason']),
      example: { reason: PAUSED.reason },
      optional: true,
    },
    answers: { 200: { means: 'It is paused.', schema: schema('TriggerSwitch'), example: PAUSED } },
    problems: [...OF_TRIGGER, 'invalid_json', 'invalid_field', 'request_too_large'],
  },
  resumeTrigger: {
    summary: 'Let it go on, whether it was paused or had stopped',
    more: 'Parked cells stay parked. Where its queue may have lost messages, all that is not known to be consumed is sent again, in order, as replays: `resent` says so.',
    answers: {
      200: {
        means: 'It is running.',
        schema: schema('TriggerSwitch'),
        example: { ...SWITCH, changed_at: '2026-01-31T09:30:00.000Z' },
      },
    },
    problems: OF_TRIGGER,
  },
  rewindTrigger: {
    summary: 'Set it to another place in the logs',
    more: 'To their start, to their ends (`now`), to a time (inclusive), or for some shards to the added id after which to go on. What is sent again is marked as a replay. Cells that were not sent and lie before the new place are skipped, which `skips` says, with `dry_run` before anything is done. What is on the queue already is still consumed.',
    request: {
      schema: objectOf(
        {
          to: {
            oneOf: [
              { enum: ['start', 'now'] },
              schema('Time'),
              {
                type: 'object',
                additionalProperties: schema('AddedId'),
                minProperties: 1,
                description: 'Added ids by shard.',
              },
            ],
          },
          dry_run: { type: 'boolean', default: false, description: 'Say what would be skipped, and change nothing.' },
        },
        ['dry_run'],
      ),
      example: { to: { '233': 16 } },
    },
    answers: {
      200: {
        means: 'It goes on from there; with `dry_run`: it would.',
        schema: schema('TriggerRewind'),
        example: {
          ...SWITCH,
          rewound_at: '2026-01-31T10:00:00.000000Z',
          skipped: { cells: 7, shards: 1 },
          dry_run: false,
          skips: [{ shard: 233, after: 9, to: 16, cells: 7 }],
        },
      },
    },
    problems: [...OF_TRIGGER, ...OF_BODY, 'unknown_shard'],
  },
  listParkedCells: {
    summary: 'List what is parked',
    more: 'Cells that the consumer failed on too often, and messages that it could not read.',
    query: ['limit', 'afterParked'],
    answers: {
      200: {
        means: 'A page of them.',
        schema: schema('ParkedPage'),
        example: { cells: [PARKED], malformed: [], next: null },
      },
    },
    problems: [...OF_TRIGGER, 'invalid_field'],
  },
  retryParkedCells: {
    summary: 'Send parked cells again',
    more: 'Soon, and marked as replays; a trigger that does not run sends them once it is resumed. What fails again stays parked.',
    request: CHOICE,
    answers: {
      200: {
        means: 'How many of them are parked.',
        schema: objectOf({ wanted: COUNT, not_parked: NOT_PARKED }),
        example: { wanted: 1, not_parked: [] },
      },
    },
    problems: [...OF_TRIGGER, ...OF_BODY, 'unknown_shard'],
  },
  discardParkedCells: {
    summary: 'Forget parked cells for good',
    more: 'The cells themselves stay where they are. `*` forgets the messages that could not be read, too.',
    request: CHOICE,
    answers: {
      200: {
        means: 'How many there were.',
        schema: objectOf({ discarded: COUNT, not_parked: NOT_PARKED }),
        example: { discarded: 1, not_parked: [] },
      },
    },
    problems: [...OF_TRIGGER, ...OF_BODY, 'unknown_shard'],
  },
  listDeadMessages: {
    summary: 'List what SQS gave up on',
    more: 'Messages of the last queue, which were received too often without an end. Looking hides them from others for a moment, and shows ten of each shard at most.',
    query: ['limit'],
    answers: {
      200: {
        means: 'What the queue gives of them.',
        schema: schema('DeadPage'),
        example: { messages: [DEAD], count: 1 },
      },
    },
    problems: [...OF_TRIGGER, 'invalid_field'],
  },
  replayDeadMessages: {
    summary: 'Send what SQS gave up on again',
    more: 'Each cell is parked and sent again soon, as a replay, apart from its shard; its message is deleted. One whose cell was sent again since is only deleted.',
    answers: {
      200: {
        means: 'How many were taken out.',
        schema: objectOf({ replayed: COUNT, left: LEFT }),
        example: { replayed: 1, left: 0 },
      },
    },
    problems: OF_TRIGGER,
  },
  discardDeadMessages: {
    summary: 'Delete what SQS gave up on',
    more: 'The cells themselves stay where they are.',
    answers: {
      200: {
        means: 'How many were taken out.',
        schema: objectOf({ discarded: COUNT, left: LEFT }),
        example: { discarded: 1, left: 0 },
      },
    },
    problems: OF_TRIGGER,
  },
} as const satisfies Record<string, Description>;
