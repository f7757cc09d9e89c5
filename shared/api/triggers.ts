import { ADDRESS, CELL } from './examples.ts';
import { maybe, members, SWITCH as FLAG_MEMBER } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { digits } from './parameter.ts';
import { afterText, LIMIT, SAFE } from './query.ts';
import { REWIND_TARGET } from './rewind-target.ts';
import { COUNT, described, list, mapOf, object, TEXT } from './shape.ts';
import {
  DEAD_PAGE,
  DETAILS,
  NOT_PARKED,
  PARKED_CHOICE,
  PARKED_PAGE,
  REWIND,
  SUMMARY,
  SWITCH,
} from './trigger-shapes.ts';
import { NOTE, SHARD } from './words.ts';

const RUNNING = {
  trigger: 'bill_rider',
  state: 'running',
  reason: null,
  changed_at: null,
  rewound_at: null,
  skipped: null,
  resent: null,
} as const;
const PAUSED = {
  ...RUNNING,
  state: 'paused',
  reason: 'the card service is down',
  changed_at: '2026-01-31T09:00:00.000Z',
} as const;

const SUMMARY_EXAMPLE = {
  ...RUNNING,
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

const LOGGED = { shard: CELL.shard, added_id: CELL.added_id, ...ADDRESS, created_at: CELL.created_at } as const;

const PARKED = {
  ...LOGGED,
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
  cell: LOGGED,
  resent: false,
  body: null,
} as const;

const SEE = { method: 'GET', handler: 'manage-triggers', mayCall: ['readers'] } as const;
const CHANGE = {
  method: 'POST',
  handler: 'manage-triggers',
  mayCall: ['console'],
  sharesRoute: true,
} as const;
const NO_CHOICE = { body: members({}), mayLackBody: true } as const;
const CHOICE = {
  body: PARKED_CHOICE,
  bodyExample: { cells: [{ shard: CELL.shard, added_id: CELL.added_id }] },
  errors: ['unknown_shard'],
} as const;
const LEFT = described(
  COUNT,
  'Left in the dead-letter queue, approximately: hidden from this request, or more than it had time for. Repeat it.',
);

export const TRIGGERS = operations({
  listTriggers: {
    ...SEE,
    path: '/v1/{datastore}/triggers',
    summary: 'List the triggers',
    more: 'Definitions, states, lags, and the numbers of parked cells.',
    answers: {
      200: {
        means: 'Every trigger, by name.',
        body: object({
          triggers: list(SUMMARY),
          consumer_environment: described(
            mapOf(TEXT),
            'Variables of a consumer in another process, in addition to the URL of the API and credentials.',
          ),
        }),
        example: {
          triggers: [SUMMARY_EXAMPLE],
          consumer_environment: { AWS_REGION: 'eu-central-1', SCHEMALESS_DATASTORE: 'trips' },
        },
      },
    },
  },
  getTrigger: {
    ...SEE,
    path: '/v1/{datastore}/triggers/{trigger}',
    summary: 'See one trigger, and its progress in each shard',
    query: { ...LIMIT, after: digits(SHARD, SAFE, { description: 'Continue after this shard.', example: 99 }) },
    answers: {
      200: {
        means: 'The trigger, with a page of its shards.',
        body: DETAILS,
        example: {
          ...SUMMARY_EXAMPLE,
          shards: [{ shard: 0, offset: 16, consumed: 14, head: 17, cells: 3, seconds: 0.04, parked: 0, failing: 0 }],
          next: 0,
        },
      },
    },
    errors: ['unknown_shard'],
  },
  pauseTrigger: {
    ...CHANGE,
    path: '/v1/{datastore}/triggers/{trigger}/pause',
    summary: 'Halt sending and consuming',
    more: 'Queued messages stay. The workers of the trigger notice within some two seconds.',
    body: members({ reason: maybe(NOTE) }),
    bodyExample: { reason: PAUSED.reason },
    mayLackBody: true,
    answers: { 200: { means: 'It is paused.', body: SWITCH, example: PAUSED } },
  },
  resumeTrigger: {
    ...CHANGE,
    ...NO_CHOICE,
    path: '/v1/{datastore}/triggers/{trigger}/resume',
    summary: 'Resume a paused or stopped trigger',
    more: 'Parked cells stay parked. If its queue may have lost messages, all cells not known to be consumed are sent again, in order, as replays: see `resent`.',
    answers: {
      200: { means: 'It is running.', body: SWITCH, example: { ...RUNNING, changed_at: '2026-01-31T09:30:00.000Z' } },
    },
  },
  rewindTrigger: {
    ...CHANGE,
    path: '/v1/{datastore}/triggers/{trigger}/rewind',
    summary: 'Move its offsets in the logs',
    more: 'To their start, to their ends (`now`), to a time (inclusive), or for some shards to the added id after which to continue. Cells sent again are marked as replays. Unsent cells before the new offset are skipped: `skips` counts them, with `dry_run` before anything is done. Messages that are already on the queue are still consumed.',
    body: members({
      to: REWIND_TARGET,
      dry_run: described(FLAG_MEMBER, 'Report what would be skipped, and change nothing.'),
    }),
    bodyExample: { to: { '233': 16 } },
    refusesUndefined: true,
    answers: {
      200: {
        means: 'It continues from there; with `dry_run`: it would.',
        body: REWIND,
        example: {
          ...RUNNING,
          rewound_at: '2026-01-31T10:00:00.000000Z',
          skipped: { cells: 7, shards: 1 },
          dry_run: false,
          skips: [{ shard: 233, after: 9, to: 16, cells: 7 }],
        },
      },
    },
    errors: ['unknown_shard'],
  },
  listParkedCells: {
    ...SEE,
    path: '/v1/{datastore}/triggers/{trigger}/parked',
    summary: 'List parked cells and messages',
    more: 'Cells that the consumer failed on too often, and messages that it could not read.',
    query: { ...LIMIT, ...afterText('233:17') },
    answers: {
      200: { means: 'A page of them.', body: PARKED_PAGE, example: { cells: [PARKED], malformed: [], next: null } },
    },
  },
  retryParkedCells: {
    ...CHANGE,
    ...CHOICE,
    path: '/v1/{datastore}/triggers/{trigger}/parked/retry',
    summary: 'Send parked cells again',
    more: 'They are sent soon, marked as replays; a trigger that does not run sends them once it is resumed. Cells that fail again stay parked.',
    answers: {
      200: {
        means: 'The number of them that are parked.',
        body: object({ wanted: COUNT, not_parked: NOT_PARKED }),
        example: { wanted: 1, not_parked: [] },
      },
    },
  },
  discardParkedCells: {
    ...CHANGE,
    ...CHOICE,
    path: '/v1/{datastore}/triggers/{trigger}/parked/discard',
    summary: 'Forget parked cells for good',
    more: 'The cells themselves stay where they are. `*` forgets the messages that could not be read as well.',
    answers: {
      200: {
        means: 'The number of cells discarded.',
        body: object({ discarded: COUNT, not_parked: NOT_PARKED }),
        example: { discarded: 1, not_parked: [] },
      },
    },
  },
  listDeadMessages: {
    ...SEE,
    path: '/v1/{datastore}/triggers/{trigger}/dead',
    summary: 'List dead-letter messages',
    more: 'Messages of the dead-letter queue, which were received too often without success. Listing hides them from other requests for a moment, and shows at most ten of each shard.',
    query: LIMIT,
    answers: {
      200: { means: 'The messages that the queue returned.', body: DEAD_PAGE, example: { messages: [DEAD], count: 1 } },
    },
  },
  replayDeadMessages: {
    ...CHANGE,
    ...NO_CHOICE,
    path: '/v1/{datastore}/triggers/{trigger}/dead/replay',
    summary: 'Resend the cells of dead-letter messages',
    more: 'Each cell is parked and soon sent again, as a replay, independently of its shard; its message is deleted. A message whose cell was sent again since is only deleted.',
    answers: {
      200: {
        means: 'The number of messages taken out.',
        body: object({ replayed: COUNT, left: LEFT }),
        example: { replayed: 1, left: 0 },
      },
    },
  },
  discardDeadMessages: {
    ...CHANGE,
    ...NO_CHOICE,
    path: '/v1/{datastore}/triggers/{trigger}/dead/discard',
    summary: 'Delete dead-letter messages',
    more: 'The cells themselves stay where they are.',
    answers: {
      200: {
        means: 'The number of messages taken out.',
        body: object({ discarded: COUNT, left: LEFT }),
        example: { discarded: 1, left: 0 },
      },
    },
  },
});

export type TriggerOperations = Methods<typeof TRIGGERS>;
