import type { Json } from '../cell.ts';
import { TRIGGER_NAME } from '../definitions/definitions.ts';
import type {
  DeadCount,
  ParkedCount,
  RewindTo,
  TriggerOperations,
  TriggerSummary,
} from '../contract/trigger-operations.ts';
import { answerTo, type Call, type Connection } from './calls.ts';
import { pathName } from './path-name.ts';

/** Returns the operator's view of a datastore's triggers, over HTTP. */
export function triggerCalls(send: Connection): TriggerOperations {
  const ask = <Answer>(
    method: Call['method'],
    name: string,
    rest: readonly string[],
    more: Pick<Call, 'query' | 'body'> = {},
  ): Promise<Answer> =>
    answerTo(send, { method, path: ['triggers', pathName('trigger', TRIGGER_NAME, name), ...rest], ...more });

  return {
    async triggers() {
      const answer = await answerTo<{ triggers: readonly TriggerSummary[] }>(send, {
        method: 'GET',
        path: ['triggers'],
      });
      return answer.triggers;
    },
    trigger: async (name, { limit, after } = {}) => ask('GET', name, [], { query: { limit, after } }),
    pauseTrigger: async (name, reason) => ask('POST', name, ['pause'], { body: { reason } }),
    resumeTrigger: async (name) => ask('POST', name, ['resume']),
    rewindTrigger: async (name, to, { dry_run } = {}) =>
      ask('POST', name, ['rewind'], { body: { to: written(to), dry_run } }),
    parkedCells: async (name, { limit, after } = {}) => ask('GET', name, ['parked'], { query: { limit, after } }),
    retryParked: async (name, cells) =>
      toParkedCount(await ask('POST', name, ['parked', 'retry'], { body: { cells } }), 'wanted'),
    discardParked: async (name, cells) =>
      toParkedCount(await ask('POST', name, ['parked', 'discard'], { body: { cells } }), 'discarded'),
    deadMessages: async (name, { limit } = {}) => ask('GET', name, ['dead'], { query: { limit } }),
    replayDead: async (name) => toDeadCount(await ask('POST', name, ['dead', 'replay']), 'replayed'),
    discardDead: async (name) => toDeadCount(await ask('POST', name, ['dead', 'discard']), 'discarded'),
  };
}

type Answer = Readonly<Record<string, Json>>;

function toParkedCount(answer: Answer, what: string): ParkedCount {
  return {
    count: Number(answer[what]),
    not_parked: (answer['not_parked'] ?? []) as unknown as ParkedCount['not_parked'],
  };
}

function toDeadCount(answer: Answer, what: string): DeadCount {
  return { count: Number(answer[what]), left: Number(answer['left']) };
}

function written(to: RewindTo): Json {
  if (typeof to === 'string') return to;
  return 'since' in to ? to.since : Object.fromEntries(to.shards);
}
