import { LOOPS_AT_ONCE } from '../../shared/loops-at-once.ts';
import type { StoreEnvironment } from './store-environment.ts';

/** The proxy's share of its cluster's connections; operators and Aurora need the rest. */
export const PROXY_PERCENT = 90;

interface FunctionShare {
  readonly name: string;
  readonly instances: number;
  /** Connections to one endpoint of a group: the pool's and one for health checks. */
  readonly connections: number;
}

/** An instance checks a suspect node on a connection outside its pool; all instances do while a node hangs. */
const HEALTH_CHECK = 1;
/** `isComplete` runs once at a time, next to one that is ending. */
const MIGRATIONS_AT_ONCE = 2;

/** A hanging instance must not block its successors. */
const SPARE = 1;

const WITHOUT_CONNECTIONS = 'manage-moves';

export type Loop = 'drain-buffer' | 'maintenance' | 'move-shards' | 'tail-shards';

/** Larger environments divide the drain and the maintenance into slots. */
const GROUPS_A_SLOT = 8;
/** Instances of `write-cells` for 5,000 writes a second of 25 ms each, at 60 % use. */
const WRITERS_A_SLOT = 209;

/** Functions that may run on Lambda Managed Instances: those that answer nearly all requests. */
export const MANAGED = ['write-cells', 'read-cells', 'query-index'] as const;
/** AWS starts so many environments of each, in different zones. */
export const FEWEST_ENVIRONMENTS = 3;
/** While a deployment replaces managed environments, each version may have all of them. */
const VERSIONS_AT_ONCE = 2;
/** On-demand instances that a managed one replaces: a request waits ten times as long as it takes CPU. */
export const REPLACED = 10;

type Slotted = Pick<StoreEnvironment, 'groups' | 'managedInstances'>;

/** Returns the slots of `drain-buffer`, and of `maintenance`: by groups and planned writes, at most one a group. */
export function loopSlots({
  groups,
  instances,
  managedInstances,
}: Slotted & { readonly instances?: { readonly 'write-cells': number } }): number {
  const writers = (instances?.['write-cells'] ?? 0) * (managedInstances ? REPLACED : 1);
  const byWrites = Math.ceil(writers / WRITERS_A_SLOT);
  return Math.max(Math.ceil(groups / GROUPS_A_SLOT), Math.min(byWrites, groups));
}

export function loopInstances(
  environment: Slotted & Pick<StoreEnvironment, 'tailers' | 'instances'>,
): Readonly<Record<Loop, number>> {
  const slotted = LOOPS_AT_ONCE * loopSlots(environment) + SPARE;
  return {
    'drain-buffer': slotted,
    maintenance: slotted,
    'move-shards': LOOPS_AT_ONCE + SPARE,
    'tail-shards': LOOPS_AT_ONCE * environment.tailers + 2 * SPARE,
  };
}

type Budgeted = Slotted & Pick<StoreEnvironment, 'access' | 'connections' | 'tailers' | 'capacity' | 'instances'>;

/**
 * Returns the connections that functions may open to a group's writer. Statements over 16 KB pin their connection, so a
 * proxy does not lower the number.
 * Undefined if functions hold no connections or have no limits.
 */
export function connectionBudget(environment: Budgeted) {
  const { access, instances, connections, capacity, managedInstances } = environment;
  if (access !== 'mysql' || instances === undefined) return undefined;
  const [request, loop] = [connections.request + HEALTH_CHECK, connections.loop + HEALTH_CHECK];
  const shares: FunctionShare[] = [
    ...Object.entries(instances)
      .filter(([name]) => name !== WITHOUT_CONNECTIONS)
      .map(([name, count]) => ({
        name,
        instances: managedInstances && MANAGED.some((one) => one === name) ? VERSIONS_AT_ONCE * count : count,
        connections: request,
      })),
    ...Object.entries(loopInstances(environment)).map(([name, count]) => ({
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
    /** With all instances at work, and every connection pinned in the proxy. */
    wanted: sum((share) => share.instances * share.connections),
    /** Without pinning: one for each concurrent statement. */
    unpinned: sum((share) => share.instances),
    allowed: Math.floor((most * PROXY_PERCENT) / 100),
  };
}

const MOST_INSTANCES = 360;
/** Shares of the instances that answer requests. */
const PARTS = {
  'write-cells': 0.5,
  'read-cells': 0.33,
  'query-index': 0.144,
  'manage-triggers': 0.014,
  'manage-moves': 0.006,
  'erase-cells': 0.006,
} as const;
const OF_OPERATORS = 3;

/** Returns instances by connections, at least one a function; undefined without connections. */
export function instancesWithin(environment: Omit<Budgeted, 'instances'>): StoreEnvironment['instances'] {
  const loops = connectionBudget({ ...environment, instances: ofEach(() => 0) });
  if (!loops) return undefined;
  const left = Math.floor((loops.allowed - loops.wanted) / (environment.connections.request + HEALTH_CHECK));
  const most = environment.managedInstances
    ? Math.min(MOST_INSTANCES / REPLACED, left / VERSIONS_AT_ONCE)
    : Math.min(MOST_INSTANCES, left);
  return ofEach((share) => Math.max(1, Math.floor(share * (most - OF_OPERATORS))));
}

function ofEach(instances: (share: number) => number): Record<keyof typeof PARTS, number> {
  const entries = Object.entries(PARTS).map(([name, share]) => [name, instances(share)]);
  return Object.fromEntries(entries) as Record<keyof typeof PARTS, number>;
}

/** `max_connections` of a serverless node by its most ACU, from Aurora's documentation. */
const CONNECTIONS: readonly (readonly [acu: number, connections: number])[] = [
  [192, 6000],
  [128, 5000],
  [64, 4000],
  [32, 3000],
  [16, 2000],
  [8, 1000],
  [4, 135],
  [1, 90],
];

/** Returns the connections of each node; between two sizes, those of the smaller. */
export function connectionsOf(maxAcu: number): number {
  return CONNECTIONS.find(([acu]) => maxAcu >= acu)?.[1] ?? 90;
}
