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

/**
 * What a store in an app of one's own may say of itself. With `data-api` the defaults are those of something to try out,
 * with `mysql` those of something to rely on.
 */
export interface StoreOptions {
  /** How functions reach MySQL: over the RDS Data API, or inside the VPC of the clusters. @default data-api */
  readonly access?: Access;
  /** Shard groups, a MySQL cluster each: 1 to 40. Fixed once there is data. @default 1 with data-api, 3 with mysql */
  readonly groups?: number;
  /**
   * Groups that the storage's stack takes: 1 to 40. Those after them are in further stacks of twelve each, which needs a
   * `storageScope` in another stack than the store. Fixed once there are as many.
   *
   * @default 12
   */
  readonly groupsInFirstStack?: number;
  /** Readers of each group, besides its writer: 0 to 5. @default none with data-api, 1 with mysql */
  readonly readers?: number;
  /**
   * Of each node, in ACU (1 ACU is about 2 GiB of memory), in halves: from 0 (it pauses) to 256. The maximum also fixes
   * how many connections a node takes.
   *
   * @default 0 to 4 with data-api, 1 to 16 with mysql
   */
  readonly capacity?: { readonly min: number; readonly max: number };
  /**
   * How Aurora's storage is paid for: by each I/O, or at higher prices with none, which is cheaper from some hundred
   * writes a second on.
   *
   * @default standard
   */
  readonly storage?: 'standard' | 'io-optimized';
  /**
   * On how many other groups a write is copied before it is appended: at most groups - 2.
   *
   * @default 1 where there are three groups or more, else none
   */
  readonly bufferCopies?: number;
  /**
   * Minutes that copies stay on the other groups after they were drained: a group that is set back in time by less than
   * that loses nothing. 0 to 10,080, a week.
   *
   * @default 60 with mysql and copies, else 0
   */
  readonly keepCopiesMinutes?: number;
  /**
   * How many days the table of keys can be set back, 1 to 35: so long a subject that was forgotten could be brought back
   * by who may do that.
   *
   * @default 35
   */
  readonly keyDays?: number;
  /**
   * Datastores may have sealed fields. With RDS Proxies this takes an endpoint of Secrets Manager,
   * which costs by the hour; without them it is always so.
   *
   * @default false with a proxy
   */
  readonly sealsFields?: boolean;
  /** An RDS Proxy before each group, by which functions log in without a password. @default true with mysql */
  readonly proxy?: boolean;
  /**
   * Instances of the functions behind the API that run at once at most, reserved for them: what a runaway client can do
   * to MySQL ends there. `unreserved`: as many as the account allows.
   *
   * @default with mysql as many as a node takes connections of, 360 in all at most; with data-api unreserved
   */
  readonly instances?: StoreEnvironment['instances'] | 'unreserved';
  /** Workers that tail the shards for the triggers: 1 to 64. @default 1 with data-api, 4 with mysql from 8 ACU on */
  readonly tailers?: number;
  /** MiB of the functions that follow logs all the time. @default 512 with data-api, 1769 with mysql */
  readonly loopMemoryMb?: number;
  /** The functions that run all the time. Without them buffers, indexes and triggers rest. @default true */
  readonly schedules?: boolean;
  /** Each function gives AWS X-Ray a trace of its calls. @default true */
  readonly tracing?: boolean;
  /**
   * A deployment leads a tenth of the calls of each function behind the API to its new version for so many minutes, and
   * goes back when requests are not served meanwhile: 10, 15 or 30. @default all calls at once
   */
  readonly canaryMinutes?: StoreEnvironment['canaryMinutes'];
  /**
   * Copies of clusters and tables once a day by AWS Backup, for `keepDays` days, and, with `copyTo`, also in the vault of
   * that ARN, in another region.
   *
   * @default none, besides the recovery to any second of the last 35 days
   */
  readonly backups?: BackupSettings;
  /** Requests each second, and at once. @default 100 and 200 with data-api, 5000 and 2500 with mysql */
  readonly throttle?: Throttle;
  /** Of single routes, by what they do (`readLog`, `batchGet`): at most what all may together. @default that of all */
  readonly routeThrottles?: RouteThrottles;
  /**
   * A name of one's own before the API, with the ARN of its certificate, of ACM in the stack's region; `store.domainTarget`
   * is where its DNS has to point.
   *
   * @default the name that API Gateway gives
   */
  readonly domain?: ApiDomain;
  /**
   * Origins of web pages that may ask the API from a browser (CORS), such as `https://shop.example`, or `*` for all.
   */
  readonly corsOrigins?: readonly string[];
  /** The API has the console, too, for whoever may call `/console` by IAM; `schemaless console` opens it. @default false */
  readonly console?: boolean;
  /**
   * Datastores, indexes and triggers can be made and deleted through the API, too: a datastore made so gets no more
   * shards than this. Not together with `encryptionKey`, which their queues would not have.
   *
   * @default they go by deploy alone
   */
  readonly definedByApi?: StoreEnvironment['definedByApi'];
  /**
   * Ids of the two or three availability zones that the store's VPC is in, such as `use1-az1`. Fixed, but that a third
   * can come later, at the end. Not together with `vpc`.
   *
   * @default those of the stack's region, where it is known
   */
  readonly zones?: readonly string[];
  /** Of the store's VPC: a private range of /16 to /20. Fixed. Not together with `vpc`. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /**
   * A role for people, by which they run SQL on the clusters in an emergency, over the RDS Data API. @default none: nobody
   * reaches MySQL but functions
   */
  readonly breakGlass?: boolean;
  /**
   * Days after which passwords are changed, those of functions where they have any, and those of the clusters' owners: 1
   * to 1,000, or 0 for never. No request notices.
   *
   * @default 30
   */
  readonly passwordDays?: number;
  /** Days that logs are kept. @default 14 with data-api, 90 with mysql */
  readonly logDays?: RetentionDays;
  /** Shard counts by datastore, in place of those of the definitions. @default those of the definitions */
  readonly shards?: Readonly<Record<string, number>>;
  /**
   * `RETAIN`: clusters, tables, queues and logs refuse to be deleted, stay when their stack goes, and are backed up for
   * 35 days. `DESTROY`: nothing is left.
   *
   * @default RETAIN
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
    // The fewest that survive one lost group without refusing writes.
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
/** So many nodes have letters. */
const MOST_READERS = 5;
const MOST_ACU = 256;
/** From here on a node takes the connections of several tailers. */
const ACU_OF_TAILERS = 8;
const SEVERAL_TAILERS = 4;
/** With what is added to it, the longest name that a proxy may have. */
const NAME = /^(?=.{1,30}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/u;

/**
 * A store as its options describe it.
 *
 * @param name see `StoreEnvironment.name`
 * @throws an Error that names the option, what was wanted and what came
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

/** API Gateway compares origins as they are; besides it knows all, and all of a scheme. */
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
