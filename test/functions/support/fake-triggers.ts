import { SchemalessError } from '../../../shared/errors.ts';
import type {
  CellLocation,
  DeadMessageShown,
  MalformedMessage,
  ParkedCell,
  ParkedChoice,
  TriggerShard,
  TriggerSummary,
  TriggerSwitch,
} from '../../../shared/api/trigger-shapes.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';

export const SUMMARY: TriggerSummary = {
  trigger: 'bill_rider',
  state: 'running',
  reason: null,
  changed_at: null,
  rewound_at: null,
  skipped: null,
  resent: null,
  columns: ['BASE'],
  function: 'functions/examples/bill-rider.ts',
  start: 'start',
  max_attempts: 5,
  stop_after_parked: 100,
  retry_parked_every_seconds: 600,
  timeout_seconds: 30,
  lag: { cells: 3, seconds: 0.25, unknown_shards: 1 },
  sent: { cells: 1, seconds: 0.1, unknown_shards: 1 },
  waiting: 2,
  dead: 1,
  parked: 1,
  malformed: 1,
  failing: 0,
  last_error: { error: 'Error: no money', at: '2026-01-31T08:00:15.900Z', shard: 0, added_id: 7 },
};

export const TRIGGER_SHARDS: readonly TriggerShard[] = [
  { shard: 0, offset: 16, consumed: 14, head: 17, cells: 3, seconds: 0.25, parked: 1, failing: 0 },
  { shard: 1, offset: null, consumed: null, head: null, cells: null, seconds: null, parked: 0, failing: 0 },
];

export const PARKED: ParkedCell = {
  shard: 0,
  added_id: 7,
  row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
  column_name: 'BASE',
  ref_key: 1,
  created_at: '2026-01-31T08:00:00.123456Z',
  attempts: 5,
  first_failed_at: '2026-01-31T08:00:00.200Z',
  last_failed_at: '2026-01-31T08:00:15.900Z',
  last_error: 'Error: no money',
  parked_at: '2026-01-31T08:00:15.900Z',
  round: 0,
  retry: null,
  retried_at: null,
};

export const MALFORMED: MalformedMessage = {
  message_id: 'b7c9',
  body: '{',
  error: 'body: wanted a JSON value, got the end',
  parked_at: '2026-01-31T08:00:15.900Z',
};

export const DEAD: DeadMessageShown = {
  message_id: 'c8da',
  sent_at: '2026-01-31T08:00:00.300Z',
  cell: {
    shard: 0,
    added_id: 7,
    row_key: PARKED.row_key,
    column_name: 'BASE',
    ref_key: 1,
    created_at: PARKED.created_at,
  },
  resent: false,
  body: null,
};

interface Counted {
  readonly count: number;
  readonly not_parked: readonly CellLocation[];
}

/** The last one named is not parked. */
function counted(cells: ParkedChoice): Counted {
  return cells === '*' ? { count: 9, not_parked: [] } : { count: cells.length - 1, not_parked: cells.slice(-1) };
}

/** The triggers of a datastore that has one, `bill_rider`; what was asked of them is kept in `asked`. */
export function fakeTriggers(asked: unknown[][] = []): TriggerOperations {
  const ask = (operation: keyof TriggerOperations, parameters: { readonly trigger: string }): void => {
    const { trigger } = parameters;
    if (trigger !== SUMMARY.trigger)
      throw new SchemalessError('unknown_trigger', `no trigger ${trigger}`, {
        field: 'trigger',
        wanted: 'the name of a trigger',
        got: trigger,
      });
    asked.push([operation, parameters]);
  };
  const shown = (changes: Partial<TriggerSwitch>): TriggerSwitch => {
    const { trigger, state, reason, changed_at, rewound_at, skipped, resent } = { ...SUMMARY, ...changes };
    return { trigger, state, reason, changed_at, rewound_at, skipped, resent };
  };
  return {
    listTriggers: async () => ({ triggers: [SUMMARY] }),
    async getTrigger(page) {
      ask('getTrigger', page);
      return { ...SUMMARY, shards: TRIGGER_SHARDS, next: 1 };
    },
    async pauseTrigger(why) {
      ask('pauseTrigger', why);
      return shown({ state: 'paused', reason: why.reason ?? null, changed_at: '2026-01-31T09:00:00.000Z' });
    },
    async resumeTrigger(which) {
      ask('resumeTrigger', which);
      return shown({ changed_at: '2026-01-31T09:00:00.000Z' });
    },
    async rewindTrigger(rewind) {
      ask('rewindTrigger', rewind);
      return {
        ...shown({ rewound_at: '2026-01-31T09:00:00.000000Z' }),
        dry_run: rewind.dry_run === true,
        skips: rewind.to === 'now' ? [{ shard: 0, after: 16, to: 17, cells: 1 }] : [],
      };
    },
    async listParkedCells(page) {
      ask('listParkedCells', page);
      return { cells: [PARKED], malformed: [MALFORMED], next: null };
    },
    async retryParkedCells(choice) {
      ask('retryParkedCells', choice);
      const { count: wanted, not_parked } = counted(choice.cells);
      return { wanted, not_parked };
    },
    async discardParkedCells(choice) {
      ask('discardParkedCells', choice);
      const { count: discarded, not_parked } = counted(choice.cells);
      return { discarded, not_parked };
    },
    async listDeadMessages(page) {
      ask('listDeadMessages', page);
      return { messages: [DEAD], count: 1 };
    },
    async replayDeadMessages(which) {
      ask('replayDeadMessages', which);
      return { replayed: 1, left: 0 };
    },
    async discardDeadMessages(which) {
      ask('discardDeadMessages', which);
      return { discarded: 1, left: 2 };
    },
  };
}
