import { MAX_TAILERS, MOST_GROUPS } from '../constructs/store-environment.ts';
import type { Plan } from './plan.ts';
import { QUOTAS, type Limit } from './quotas.ts';

/** A limit, held against a plan. */
export interface HeldLimit extends Limit {
  readonly limit: number;
  readonly need: number;
  readonly isExceeded: boolean;
}

/** `MAX_CONCURRENCY` of `infra/constructs/connect-consumer.ts`. */
export const TRIGGER_CONCURRENCY = 50;

/** What the environment and the code set. Those of one run are estimates. */
const OWN_LIMITS: readonly Limit[] = [
  {
    name: '`throttle.ratePerSecond`',
    unit: '/s',
    most: ({ load }) => load.environment.throttle.ratePerSecond,
    needed: ({ traffic }) => traffic.requests,
    raise: '`infra/environments.ts`, up to what API Gateway gives',
  },
  {
    name: '`groups`',
    unit: '',
    most: ({ load }) => load.environment.groups,
    needed: ({ database }) => database.groups,
    raise: '`infra/environments.ts`; shards of before are moved there by hand',
  },
  {
    name: 'groups of a store',
    unit: '',
    most: () => MOST_GROUPS,
    needed: ({ database }) => database.groups,
    raise:
      '`MOST_GROUPS` of `infra/constructs/store-environment.ts`, as far as templates and policies of AWS hold them',
  },
  {
    name: '`capacity.max`',
    unit: 'ACU',
    most: ({ load }) => load.environment.capacity.max,
    needed: ({ database }) => database.writerAcu,
    raise: '`infra/environments.ts`; takes effect once the instance was restarted, for its connections',
  },
  {
    name: '`max_connections` of a node',
    unit: '',
    most: ({ database }) => database.maxConnections,
    needed: ({ database }) => database.connections,
    raise: 'A larger `capacity.max`; a proxy where there is none',
  },
  {
    name: '`instances` of `write-cells`',
    unit: 'at once',
    most: ({ load }) => load.environment.instances?.['write-cells'] ?? Infinity,
    needed: ({ traffic }) => Math.ceil(traffic.writeCells.concurrency),
    raise: '`infra/environments.ts`, as far as a node takes their connections',
  },
  {
    name: '`instances` of `read-cells`',
    unit: 'at once',
    most: ({ load }) => load.environment.instances?.['read-cells'] ?? Infinity,
    needed: ({ traffic }) => Math.ceil(traffic.readCells.concurrency),
    raise: 'The same',
  },
  {
    name: '`tailers`',
    unit: '',
    most: ({ load }) => load.environment.tailers,
    needed: ({ traffic }) => traffic.loops.tailers,
    raise: `\`infra/environments.ts\`, up to ${MAX_TAILERS}`,
  },
  {
    name: "concurrency of a trigger's function",
    unit: 'at once',
    most: () => TRIGGER_CONCURRENCY,
    needed: ({ traffic }) => Math.ceil(traffic.triggerFunctions.concurrency),
    raise: '`MAX_CONCURRENCY` of `infra/constructs/connect-consumer.ts`',
  },
  {
    name: 'cells of one shard, one call after another',
    unit: '/s',
    most: ({ assumptions }) => 1000 / assumptions.triggerCallMs,
    needed: ({ load }) => load.writesPerSecond / load.shards,
    raise: 'Cannot be raised: they come in order. Faster functions; more shards, when the datastore is made',
  },
  {
    name: 'the one run of `drain-buffer`',
    unit: 'rows/s',
    most: ({ assumptions }) => assumptions.drainedPerSecond,
    needed: ({ load }) => load.writesPerSecond * load.environment.bufferCopies,
    raise: 'More memory, which is more CPU; beyond that the code: a run for each group',
  },
  {
    name: 'the one run of `repair-indexes`',
    unit: 'cells/s',
    most: ({ assumptions }) => assumptions.repairedPerSecond,
    needed: ({ load, assumptions }) => (assumptions.entriesPerWrite > 0 ? load.writesPerSecond : 0),
    raise:
      'More memory, which is more CPU; beyond that the code: several runs. Writes keep entries themselves meanwhile',
  },
];

/** Every limit, held against a plan: in one order, those of AWS first. */
export function limitsOf(plan: Plan): readonly HeldLimit[] {
  return [...QUOTAS, ...OWN_LIMITS].map((limit) => {
    const [most, need] = [limit.most(plan), limit.needed(plan)];
    return { ...limit, limit: most, need, isExceeded: need > most };
  });
}
