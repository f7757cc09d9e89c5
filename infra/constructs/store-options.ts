import { RemovalPolicy } from 'aws-cdk-lib';
import { ACCESSES } from '../../shared/environment.ts';
import { describe } from '../../shared/errors.ts';
import type { CanaryMinutes } from './canary.ts';
import { instancesWithin } from './connection-budget.ts';
import { wholeNumber } from './check-environment.ts';
import type { StoreEnvironment } from './store-environment.ts';

/** What follows from the options. */
type Derived =
  | 'name'
  | 'readersPerGroup'
  | 'databaseAuth'
  | 'connections'
  | 'instances'
  | 'sharedStorage'
  | 'functionsInVpc'
  | 'protectedFromDeletion'
  | 'maxShards';

/** Options of a store in another app. Defaults with `data-api` suit trials, those with `mysql` production. */
export interface StoreOptions extends Partial<Omit<StoreEnvironment, Derived>> {
  /** Readers of each group: 0 to 5. @default none with data-api, 1 with mysql */
  readonly readers?: number;
  /**
   * Reserved instances of the functions behind the API, which limit a runaway client. `unreserved`: the account's
   * limit. @default with mysql the connections of a node, at most 360 in all; with data-api unreserved
   */
  readonly instances?: StoreEnvironment['instances'] | 'unreserved';
  /** `RETAIN` protects clusters, tables, queues and logs, with 35 days of backups. `DESTROY`: nothing is left. */
  readonly removalPolicy?: RemovalPolicy;
}

const DEFAULTS = {
  'data-api': {
    groups: 1,
    readers: 0,
    capacity: { min: 0, max: 4 },
    connections: { request: 1, loop: 1 },
    loopMemoryMb: 512,
    throttle: { ratePerSecond: 100, burst: 200 },
    logDays: 14,
  },
  mysql: {
    // The fewest that survive a lost group without refusing writes.
    groups: 3,
    readers: 1,
    capacity: { min: 1, max: 16 },
    connections: { request: 3, loop: 8 },
    loopMemoryMb: 1769,
    throttle: { ratePerSecond: 5000, burst: 2500 },
    logDays: 90,
  },
} as const;

const CANARY_MINUTES: readonly CanaryMinutes[] = [10, 15, 30];
const REMOVALS = [RemovalPolicy.RETAIN, RemovalPolicy.DESTROY] as const;
const STORAGES = ['standard', 'io-optimized'] as const;
/** Nodes are named by letters. */
const MOST_READERS = 5;
const MOST_ACU = 256;
/** From here on a node takes several tailers' connections. */
const ACU_OF_TAILERS = 8;
const SEVERAL_TAILERS = 4;
/** The longest that still fits a proxy's name. */
const NAME = /^(?=.{1,30}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/u;

/**
 * Returns the environment for the options. Throws an Error that names the option. `name`: see `StoreEnvironment.name`.
 */
export function storeEnvironment(name: string, options: StoreOptions): StoreEnvironment {
  if (!NAME.test(name))
    throw new Error(
      `name: wanted 1 to 30 of a-z and 0-9, in words joined by single hyphens, the first a letter, got ${describe(name)}`,
    );
  const access = oneOf('access', options.access ?? 'data-api', ACCESSES);
  const defaults = DEFAULTS[access];
  const { groups = defaults.groups, bufferCopies = groups >= 3 ? 1 : 0, proxy = access === 'mysql' } = options;
  const capacity = capacityOf(options.capacity ?? defaults.capacity);
  const bounded = {
    access,
    capacity,
    connections: defaults.connections,
    tailers: options.tailers ?? (access === 'mysql' && capacity.max >= ACU_OF_TAILERS ? SEVERAL_TAILERS : 1),
  };
  const instances = options.instances ?? instancesWithin(bounded);
  return {
    name,
    groups,
    ...(options.groupsInFirstStack !== undefined && { groupsInFirstStack: options.groupsInFirstStack }),
    readersPerGroup: wholeNumber('readers', options.readers ?? defaults.readers, 0, MOST_READERS),
    ...bounded,
    storage: oneOf('storage', options.storage ?? 'standard', STORAGES),
    proxy,
    databaseAuth: proxy ? 'iam' : 'secret',
    ...(instances !== undefined && instances !== 'unreserved' && { instances }),
    loopMemoryMb: wholeNumber('loopMemoryMb', options.loopMemoryMb ?? defaults.loopMemoryMb, 128, 10_240),
    tracing: options.tracing ?? true,
    bufferCopies,
    keepCopiesMinutes: options.keepCopiesMinutes ?? (access === 'mysql' && bufferCopies > 0 ? 60 : 0),
    ...(options.sealsFields === true && { sealsFields: true }),
    ...(options.keyDays !== undefined && { keyDays: options.keyDays }),
    sharedStorage: true,
    functionsInVpc: access === 'mysql',
    ...(options.zones && { zones: options.zones }),
    ...(options.cidr !== undefined && { cidr: options.cidr }),
    ...(options.canaryMinutes !== undefined && {
      canaryMinutes: oneOf('canaryMinutes', options.canaryMinutes, CANARY_MINUTES),
    }),
    ...(options.backups && { backups: options.backups }),
    protectedFromDeletion:
      oneOf('removalPolicy', options.removalPolicy ?? RemovalPolicy.RETAIN, REMOVALS) === RemovalPolicy.RETAIN,
    schedules: options.schedules ?? true,
    throttle: options.throttle ?? defaults.throttle,
    ...(options.routeThrottles && { routeThrottles: options.routeThrottles }),
    ...(options.domain && { domain: options.domain }),
    corsOrigins: (options.corsOrigins ?? []).map(checkOrigin),
    console: options.console ?? false,
    ...(options.definedByApi && {
      definedByApi: { mostShards: wholeNumber('definedByApi.mostShards', options.definedByApi.mostShards, 1, 65_536) },
    }),
    passwordDays: wholeNumber('passwordDays', options.passwordDays ?? 30, 0, 1000),
    ...(options.breakGlass === true && { breakGlass: true }),
    logDays: options.logDays ?? defaults.logDays,
    shards: options.shards ?? {},
  };
}

/** API Gateway compares origins literally; it also knows `*` and all of a scheme. */
function checkOrigin(origin: string): string {
  if (origin === '*' || /^https?:\/\/(?:\*|[^\s/*]+)$/u.test(origin)) return origin;
  throw new Error(`corsOrigins: wanted *, or origins such as https://shop.example, got ${describe(origin)}`);
}

function capacityOf(capacity: { readonly min: number; readonly max: number }): StoreEnvironment['capacity'] {
  const { min, max } = capacity;
  const isTaken = [min, max].every((acu) => Number.isInteger(acu * 2)) && min >= 0 && max >= 1 && max <= MOST_ACU;
  if (!isTaken || min > max)
    throw new Error(
      `capacity: wanted ACU in halves, min from 0 and at most max, max from 1 to ${MOST_ACU}, got min ${describe(min)}, max ${describe(max)}`,
    );
  return { min, max };
}

function oneOf<T extends string | number>(field: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value;
  throw new Error(`${field}: wanted ${known.join(' or ')}, got ${describe(value)}`);
}
