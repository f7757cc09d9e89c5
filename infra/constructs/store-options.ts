import { RemovalPolicy } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ACCESSES, type Access } from '../../shared/environment.ts';
import { describe } from '../../shared/errors.ts';
import type { CanaryMinutes } from './canary.ts';
import { instancesWithin } from './connection-budget.ts';
import {
  MOST_GROUPS,
  MOST_KEPT_MINUTES,
  MOST_KEY_DAYS,
  type ApiDomain,
  type BackupSettings,
  type RouteThrottles,
  type StoreEnvironment,
  type Throttle,
} from './store-environment.ts';

/** Options of a store in another app. Defaults with `data-api` suit trials, those with `mysql` production. */
export interface StoreOptions {
  /** The RDS Data API, or connections inside the clusters' VPC. @default data-api */
  readonly access?: Access;
  /** Shard groups, one MySQL cluster each: 1 to 40. Fixed once there is data. @default 1 with data-api, 3 with mysql */
  readonly groups?: number;
  /**
   * Groups in the storage's stack: 1 to 40. Others are in further stacks of twelve, which needs a `storageScope`. Fixed
   * once reached. @default 12
   */
  readonly groupsInFirstStack?: number;
  /** Readers of each group: 0 to 5. @default none with data-api, 1 with mysql */
  readonly readers?: number;
  /**
   * Of each node, in ACU (about 2 GiB), in halves: 0 (it pauses) to 256. The maximum fixes the connections.
   * @default 0 to 4 with data-api, 1 to 16 with mysql
   */
  readonly capacity?: { readonly min: number; readonly max: number };
  /** I/O is paid singly, or included at higher prices: cheaper from some hundred writes a second. @default standard */
  readonly storage?: 'standard' | 'io-optimized';
  /** Groups that buffer a write: at most groups - 2. @default 1 with three groups or more, else 0 */
  readonly bufferCopies?: number;
  /**
   * Minutes that drained copies stay, 0 to 10,080: a group restored to a later point loses nothing.
   * @default 60 with mysql and copies, else 0
   */
  readonly keepCopiesMinutes?: number;
  /** Days for which the keys table can be restored, 1 to 35: so long a forgotten subject could return. @default 35 */
  readonly keyDays?: number;
  /**
   * Datastores may have sealed fields. With RDS Proxies that takes an endpoint of Secrets Manager, paid by the hour.
   * @default false with a proxy, else true
   */
  readonly sealsFields?: boolean;
  /** An RDS Proxy for each group: functions log in without a password. @default true with mysql */
  readonly proxy?: boolean;
  /**
   * Reserved instances of the functions behind the API, which limit a runaway client. `unreserved`: the account's
   * limit.
   * @default with mysql the connections of a node, at most 360 in all; with data-api unreserved
   */
  readonly instances?: StoreEnvironment['instances'] | 'unreserved';
  /** Tailing workers: 1 to 64. @default 1 with data-api, 4 with mysql from 8 ACU on */
  readonly tailers?: number;
  /** MiB of tailers and repair. @default 512 with data-api, 1769 with mysql */
  readonly loopMemoryMb?: number;
  /** Runs the loops; without them buffers, indexes and triggers rest. @default true */
  readonly schedules?: boolean;
  /** Sends traces to AWS X-Ray. @default true */
  readonly tracing?: boolean;
  /**
   * Minutes in which a deployment shifts a tenth of the calls, and rolls back on errors: 10, 15 or 30. @default all
   * calls at once
   */
  readonly canaryMinutes?: StoreEnvironment['canaryMinutes'];
  /**
   * Daily copies by AWS Backup for `keepDays` days, also to the vault `copyTo` of another region.
   * @default point-in-time recovery of 35 days alone
   */
  readonly backups?: BackupSettings;
  /** Requests a second, and at once. @default 100 and 200 with data-api, 5000 and 2500 with mysql */
  readonly throttle?: Throttle;
  /** Limits of single routes (`readLog`, `batchGet`), within those of all. @default that of all */
  readonly routeThrottles?: RouteThrottles;
  /**
   * A domain name for the API, with an ACM certificate of the stack's region; its DNS points at `store.domainTarget`.
   * @default API Gateway's name
   */
  readonly domain?: ApiDomain;
  /** Origins of pages that may call the API (CORS), such as `https://shop.example`, or `*`. */
  readonly corsOrigins?: readonly string[];
  /** Serves the console at `/console`, for callers that IAM allows; `schemaless console` opens it. @default false */
  readonly console?: boolean;
  /**
   * The API may define datastores, with at most this many shards, indexes and triggers. Not with `encryptionKey`, which
   * their queues would lack. @default deployments alone
   */
  readonly definedByApi?: StoreEnvironment['definedByApi'];
  /**
   * Two or three zone ids of the store's VPC, such as `use1-az1`. Fixed, except for a third at the end. Not with `vpc`.
   * @default those of the stack's region, if known
   */
  readonly zones?: readonly string[];
  /** The store's VPC: a private range of /16 to /20. Fixed. Not with `vpc`. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /** A role with which people run SQL over the RDS Data API in an emergency. @default false */
  readonly breakGlass?: boolean;
  /** Days between password changes, 1 to 1,000, or 0 for never; requests do not notice. @default 30 */
  readonly passwordDays?: number;
  /** Days that logs are kept. @default 14 with data-api, 90 with mysql */
  readonly logDays?: RetentionDays;
  /** Shard counts by datastore. @default those of the definitions */
  readonly shards?: Readonly<Record<string, number>>;
  /**
   * `RETAIN`: clusters, tables, queues and logs refuse deletion, survive their stack, and have backups of 35 days.
   * `DESTROY`: nothing is left. @default RETAIN
   */
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
 * Returns the environment for the options. Throws an Error that names the option.
 *
 * @param name see `StoreEnvironment.name`
 */
export function storeEnvironment(name: string, options: StoreOptions): StoreEnvironment {
  if (!NAME.test(name))
    throw new Error(
      `name: wanted 1 to 30 of a-z and 0-9, in words joined by single hyphens, the first a letter, got ${describe(name)}`,
    );
  const access = oneOf('access', options.access ?? 'data-api', ACCESSES);
  const defaults = DEFAULTS[access];
  const groups = wholeNumber('groups', options.groups ?? defaults.groups, 1, MOST_GROUPS);
  const capacity = capacityOf(options.capacity ?? defaults.capacity);
  const proxy = options.proxy ?? access === 'mysql';
  const bounded = {
    access,
    capacity,
    connections: defaults.connections,
    tailers: options.tailers ?? (access === 'mysql' && capacity.max >= ACU_OF_TAILERS ? SEVERAL_TAILERS : 1),
  };
  const instances = options.instances ?? instancesWithin(bounded);
  const bufferCopies = wholeNumber(
    'bufferCopies',
    options.bufferCopies ?? (groups >= 3 ? 1 : 0),
    0,
    Math.max(0, groups - 2),
  );
  return {
    name,
    groups,
    ...(options.groupsInFirstStack !== undefined && {
      groupsInFirstStack: wholeNumber('groupsInFirstStack', options.groupsInFirstStack, 1, MOST_GROUPS),
    }),
    readersPerGroup: wholeNumber('readers', options.readers ?? defaults.readers, 0, MOST_READERS),
    ...bounded,
    storage: oneOf('storage', options.storage ?? 'standard', STORAGES),
    proxy,
    databaseAuth: proxy ? 'iam' : 'secret',
    ...(instances !== undefined && instances !== 'unreserved' && { instances }),
    loopMemoryMb: wholeNumber('loopMemoryMb', options.loopMemoryMb ?? defaults.loopMemoryMb, 128, 10_240),
    tracing: options.tracing ?? true,
    bufferCopies,
    keepCopiesMinutes: wholeNumber(
      'keepCopiesMinutes',
      options.keepCopiesMinutes ?? (access === 'mysql' && bufferCopies > 0 ? 60 : 0),
      0,
      MOST_KEPT_MINUTES,
    ),
    ...(options.sealsFields === true && { sealsFields: true }),
    ...(options.keyDays !== undefined && { keyDays: wholeNumber('keyDays', options.keyDays, 1, MOST_KEY_DAYS) }),
    sharedStorage: true,
    functionsInVpc: access === 'mysql',
    ...(options.zones && { zones: options.zones }),
    ...(options.cidr !== undefined && { cidr: options.cidr }),
    ...(options.canaryMinutes !== undefined && { canaryMinutes: oneOfMinutes(options.canaryMinutes) }),
    ...(options.backups && { backups: options.backups }),
    protectedFromDeletion: isProtected(options.removalPolicy ?? RemovalPolicy.RETAIN),
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

function isProtected(policy: RemovalPolicy): boolean {
  return oneOf('removalPolicy', policy, [RemovalPolicy.RETAIN, RemovalPolicy.DESTROY]) === RemovalPolicy.RETAIN;
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

const CANARY_MINUTES: readonly CanaryMinutes[] = [10, 15, 30];

function oneOfMinutes(value: CanaryMinutes): CanaryMinutes {
  if (CANARY_MINUTES.includes(value)) return value;
  throw new Error(`canaryMinutes: wanted ${CANARY_MINUTES.join(', ')}, got ${describe(value)}`);
}

function oneOf<T extends string>(field: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value;
  throw new Error(`${field}: wanted ${known.join(' or ')}, got ${describe(value)}`);
}

function wholeNumber(field: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(
    `${field}: wanted ${min === max ? `${min}` : `a whole number from ${min} to ${max}`}, got ${describe(value)}`,
  );
}
