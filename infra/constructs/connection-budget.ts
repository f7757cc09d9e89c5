import { LOOPS_AT_ONCE } from '../../shared/loops-at-once.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { connectionsOf } from './max-connections.ts';

/**
 * What a proxy may take of its cluster's connections; the rest is for whoever comes past it: operators, Aurora itself.
 */
export const PROXY_PERCENT = 90;

/** What one function may hold of a node's connections. */
interface FunctionShare {
  readonly name: string;
  /** Instances at work at once. */
  readonly instances: number;
  /** That an instance opens to one endpoint of a group: those of its pool, and one apart for a sign of life. */
  readonly connections: number;
}

/** Connections of the node of a group that all functions ask, its writer. */
interface ConnectionBudget {
  readonly shares: readonly FunctionShare[];
  /** At most, with all instances at work: so many without a proxy, and with one when every connection is pinned. */
  readonly wanted: number;
  /** What a proxy holds when none is pinned: as many as there are statements at once, one an instance. */
  readonly unpinned: number;
  /** What functions may have of the node. */
  readonly allowed: number;
}

/**
 * An instance that suspects a node is down asks it for a sign of life on a connection beside its pool. While a node
 * hangs all instances do so at once.
 */
const SIGN_OF_LIFE = 1;
/** `onEvent` opens none; `isComplete` is called once at a time, and the one before may just end. */
const MIGRATIONS_AT_ONCE = 2;

/** One that hangs until its time is up is not to keep its successors out. */
const SPARE = 1;

/** It reads and writes tables of DynamoDB alone. */
const WITHOUT_CONNECTIONS = 'manage-moves';

/** What runs all the time. */
export type Loop = 'drain-buffer' | 'repair-indexes' | 'move-shards' | 'tail-shards';

/** Instances at once of what runs all the time, by function. */
export function loopInstances({ tailers }: Pick<StoreEnvironment, 'tailers'>): Readonly<Record<Loop, number>> {
  const one = LOOPS_AT_ONCE + SPARE;
  return {
    'drain-buffer': one,
    'repair-indexes': one,
    'move-shards': one,
    'tail-shards': LOOPS_AT_ONCE * tailers + 2 * SPARE,
  };
}

/** What decides how many connections there are, and who takes them. */
type Budgeted = Pick<StoreEnvironment, 'access' | 'connections' | 'tailers' | 'capacity' | 'instances'>;

/**
 * The connections that the functions of an environment may open to a group's writer, and how many it takes. A proxy
 * helps only while connections are shared; statements over 16 KB, such as batches, pin theirs, so the budget counts on
 * no help.
 *
 * @returns undefined where functions hold no connections, or run without bounds
 */
export function connectionBudget({
  access,
  instances,
  connections,
  tailers,
  capacity,
}: Budgeted): ConnectionBudget | undefined {
  if (access !== 'mysql' || instances === undefined) return undefined;
  const [request, loop] = [connections.request + SIGN_OF_LIFE, connections.loop + SIGN_OF_LIFE];
  const shares: FunctionShare[] = [
    ...Object.entries(instances)
      .filter(([name]) => name !== WITHOUT_CONNECTIONS)
      .map(([name, count]) => ({ name, instances: count, connections: request })),
    ...Object.entries(loopInstances({ tailers })).map(([name, count]) => ({
      name,
      instances: count,
      connections: loop,
    })),
    { name: 'migrate', instances: MIGRATIONS_AT_ONCE, connections: loop },
  ];
  const sum = (of: (share: FunctionShare) => number): number => shares.reduce((total, share) => total + of(share), 0);
  const most = connectionsOf(capacity.max);
  return {
    shares,
    wanted: sum((share) => share.instances * share.connections),
    unpinned: sum((share) => share.instances),
    allowed: Math.floor((most * PROXY_PERCENT) / 100),
  };
}

/** Of an account's 1,000 as a rule. */
const MOST_INSTANCES = 360;
/** Of all instances that answer requests, about what requests ask for; operators' own come last, one each at least. */
const PARTS = {
  'write-cells': 0.5,
  'read-cells': 0.33,
  'query-index': 0.144,
  'manage-triggers': 0.014,
  'manage-moves': 0.006,
  'erase-cells': 0.006,
} as const;
/** Those that get one in any case, so that one is left for each. */
const OF_OPERATORS = 3;

/**
 * As many instances of the functions that answer requests as there are connections for, one each at least, whether
 * there are or not.
 *
 * @returns undefined where functions hold no connections
 */
export function instancesWithin(environment: Omit<Budgeted, 'instances'>): StoreEnvironment['instances'] {
  const none = {
    'write-cells': 0,
    'read-cells': 0,
    'query-index': 0,
    'manage-triggers': 0,
    'manage-moves': 0,
    'erase-cells': 0,
  };
  const loops = connectionBudget({ ...environment, instances: none });
  if (!loops) return undefined;
  const left = Math.floor((loops.allowed - loops.wanted) / (environment.connections.request + SIGN_OF_LIFE));
  const part = (share: number): number =>
    Math.max(1, Math.floor(share * (Math.min(MOST_INSTANCES, left) - OF_OPERATORS)));
  return {
    'write-cells': part(PARTS['write-cells']),
    'read-cells': part(PARTS['read-cells']),
    'query-index': part(PARTS['query-index']),
    'manage-triggers': part(PARTS['manage-triggers']),
    'manage-moves': part(PARTS['manage-moves']),
    'erase-cells': part(PARTS['erase-cells']),
  };
}
