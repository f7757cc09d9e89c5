import type { Json } from '../cell.ts';
import { TRIGGER_NAME } from '../definitions/definitions.ts';
import type {
  DeadCount,
  DeadPage,
  ParkedCount,
  ParkedPage,
  RewindTo,
  TriggerDetails,
  TriggerOperations,
  TriggerRewind,
  TriggerSummary,
  TriggerSwitch,
} from '../contract/trigger-operations.ts';
import type { Call, Connection } from './calls.ts';
import { pathName } from './path-name.ts';

export function triggerCalls(send: Connection): TriggerOperations {
  const ask = async (
    method: Call['method'],
    name: string,
    rest: readonly string[],
    more: Pick<Call, 'query' | 'body'> = {},
  ): Promise<Readonly<Record<string, Json>>> =>
    (await send({ method, path: ['triggers', pathName('trigger', TRIGGER_NAME, name), ...rest], ...more })).json;

  return {
    async triggers() {
      return (await send({ method: 'GET', path: ['triggers'] })).json[
        'triggers'
      ] as unknown as readonly TriggerSummary[];
    },
    trigger: async (name, { limit, after } = {}) =>
      (await ask('GET', name, [], { query: { limit, after } })) as unknown as TriggerDetails,
    pauseTrigger: async (name, reason) =>
      (await ask('POST', name, ['pause'], { body: { reason } })) as unknown as TriggerSwitch,
    resumeTrigger: async (name) => (await ask('POST', name, ['resume'])) as unknown as TriggerSwitch,
    rewindTrigger: async (name, to, { dry_run } = {}) =>
      (await ask('POST', name, ['rewind'], { body: { to: written(to), dry_run } })) as unknown as TriggerRewind,
    parkedCells: async (name, { limit, after } = {}) =>
      (await ask('GET', name, ['parked'], { query: { limit, after } })) as unknown as ParkedPage,
    retryParked: async (name, cells) =>
      toParkedCount(await ask('POST', name, ['parked', 'retry'], { body: { cells } }), 'wanted'),
    discardParked: async (name, cells) =>
      toParkedCount(await ask('POST', name, ['parked', 'discard'], { body: { cells } }), 'discarded'),
    deadMessages: async (name, { limit } = {}) =>
      (await ask('GET', name, ['dead'], { query: { limit } })) as unknown as DeadPage,
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
