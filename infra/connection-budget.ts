import type { EnvironmentProps } from './environments.ts';
import { connectionsOf } from './stacks/max-connections.ts';

/**
 * What a proxy may take of its cluster's connections; the rest is for whoever comes past it: operators, Aurora itself.
 */
export const PROXY_PERCENT = 90;

/** What one function may hold of a node's connections. */
export interface FunctionShare {
  readonly name: string;
  /** Instances at work at once. */
  readonly instances: number;
  /** That an instance opens to one endpoint of a group: those of its pool, and one apart for a sign of life. */
  readonly connections: number;
}

/** Connections of the node of a group that all functions ask, its writer. */
export interface ConnectionBudget {
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
/** Where each start of a loop overlaps with the next. */
const LOOPS_AT_ONCE = 2;
/** `onEvent` opens none; `isComplete` is called once at a time, and the one before may just end. */
const MIGRATIONS_AT_ONCE = 2;

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
}: EnvironmentProps): ConnectionBudget | undefined {
  if (access !== 'mysql' || instances === undefined) return undefined;
  const [request, loop] = [connections.request + SIGN_OF_LIFE, connections.loop + SIGN_OF_LIFE];
  const shares: FunctionShare[] = [
    ...Object.entries(instances).map(([name, count]) => ({ name, instances: count, connections: request })),
    { name: 'drain-buffer', instances: LOOPS_AT_ONCE, connections: loop },
    { name: 'repair-indexes', instances: LOOPS_AT_ONCE, connections: loop },
    { name: 'tail-shards', instances: LOOPS_AT_ONCE * tailers, connections: loop },
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
