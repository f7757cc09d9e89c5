import { wrongField } from '../../../shared/errors.ts';
import type {
  CellLocation,
  MalformedMessage,
  ParkedCell,
  ParkedChoice,
  TriggerShard,
  TriggerSummary,
  TriggerSwitch,
} from '../../../shared/api/trigger-shapes.ts';
import { TRIGGERS, type TriggerOperations } from '../../../shared/api/triggers.ts';

export const SUMMARY: TriggerSummary = TRIGGERS.listTriggers.answers[200].example.triggers[0];
const TRIGGER_SHARDS: readonly TriggerShard[] = [
  ...TRIGGERS.getTrigger.answers[200].example.shards,
  { shard: 1, offset: null, consumed: null, head: null, cells: null, seconds: null, parked: 0, failing: 0 },
];
export const PARKED: ParkedCell = TRIGGERS.listParkedCells.answers[200].example.cells[0];
const MALFORMED: MalformedMessage = {
  message_id: 'b7c9',
  body: '{',
  error: 'body: wanted a JSON value, got the end',
  parked_at: '2026-01-31T08:00:15.900Z',
};

/** The last one named is not parked. */
const counted = (cells: ParkedChoice): readonly [count: number, not_parked: readonly CellLocation[]] =>
  cells === '*' ? [9, []] : [cells.length - 1, cells.slice(-1)];

/** The triggers of a datastore that has one, `bill_rider`. */
export function fakeTriggers(): TriggerOperations {
  const known = ({ trigger }: { readonly trigger: string }): void => {
    if (trigger !== SUMMARY.trigger) throw wrongField('trigger', 'the name of a trigger', trigger, 'unknown_trigger');
  };
  const shown = (changes: Partial<TriggerSwitch>): TriggerSwitch => {
    const { trigger, state, reason, changed_at, rewound_at, skipped, resent } = { ...SUMMARY, ...changes };
    return { trigger, state, reason, changed_at, rewound_at, skipped, resent };
  };
  const changed_at = '2026-01-31T09:00:00.000Z';
  const answers: TriggerOperations = {
    listTriggers: async () => ({ triggers: [SUMMARY], consumer_environment: {} }),
    getTrigger: async () => ({ ...SUMMARY, shards: TRIGGER_SHARDS, next: 1 }),
    pauseTrigger: async ({ reason = null }) => shown({ state: 'paused', reason, changed_at }),
    resumeTrigger: async () => shown({ changed_at }),
    rewindTrigger: async ({ to, dry_run = false }) => ({
      ...shown({ rewound_at: '2026-01-31T09:00:00.000000Z' }),
      dry_run,
      skips: to === 'now' ? [{ shard: 0, after: 16, to: 17, cells: 1 }] : [],
    }),
    listParkedCells: async () => ({ cells: [PARKED], malformed: [MALFORMED], next: null }),
    async retryParkedCells({ cells }) {
      const [wanted, not_parked] = counted(cells);
      return { wanted, not_parked };
    },
    async discardParkedCells({ cells }) {
      const [discarded, not_parked] = counted(cells);
      return { discarded, not_parked };
    },
    listDeadMessages: async () => TRIGGERS.listDeadMessages.answers[200].example,
    replayDeadMessages: async () => ({ replayed: 1, left: 0 }),
    discardDeadMessages: async () => ({ discarded: 1, left: 2 }),
  };
  const { listTriggers, ...ofOne } = answers;
  const checked = Object.entries(ofOne).map(([name, answer]) => [
    name,
    async (parameters: never) => (known(parameters), answer(parameters)),
  ]);
  return { listTriggers, ...(Object.fromEntries(checked) as typeof ofOne) };
}
