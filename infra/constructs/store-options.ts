import { RemovalPolicy, Token } from 'aws-cdk-lib';
import { ACCESSES } from '../../shared/environment.ts';
import { describe } from '../../shared/errors.ts';
import { instancesWithin, connectionBudget } from './connection-budget.ts';
import {
  type StoreEnvironment,
  MAX_TAILERS,
  MOST_GROUPS,
  MOST_KEPT_MINUTES,
  MOST_KEY_DAYS,
  MOST_RECOVERY_DAYS,
} from './store-environment.ts';
import { GATEWAY_ROUTES } from '../../shared/api/operations.ts';

/** Settings that follow from the options. */
type Derived =
  | 'name'
  | 'readersPerGroup'
  | 'databaseAuth'
  | 'connections'
  | 'instances'
  | 'sharedStorage'
  | 'functionsInVpc'
  | 'protectedFromDeletion'
  | 'maxShards'
  | 'triggerConcurrency';

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

const CANARY_MINUTES = [10, 15, 30] as const;
const REMOVALS = [RemovalPolicy.RETAIN, RemovalPolicy.DESTROY] as const;
const STORAGES = ['standard', 'io-optimized'] as const;
/** Nodes are named by letters. */
const MOST_READERS = 5;
const MOST_ACU = 256;
/** Fewest connections of an instance whose requests share them: the local stack's number. */
const SHARED_CONNECTIONS = 8;
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
  const { managedInstances } = options;
  const bounded = {
    access,
    groups,
    capacity,
    connections: managedInstances ? { ...defaults.connections, request: SHARED_CONNECTIONS } : defaults.connections,
    ...(managedInstances && { managedInstances }),
    tailers: options.tailers ?? (access === 'mysql' && capacity.max >= ACU_OF_TAILERS ? SEVERAL_TAILERS : 1),
  };
  const instances = options.instances ?? instancesWithin(bounded);
  return {
    name,
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

/** Throws an `Error` that names the option which does not fit. */
export function checkEnvironment(environment: StoreEnvironment): void {
  const { name, groups, bufferCopies, tailers, access, proxy, databaseAuth, functionsInVpc } = environment;
  const { groupsInFirstStack = groups, keepCopiesMinutes: kept = 0, keyDays = MOST_KEY_DAYS } = environment;
  wholeNumber(`${name}.groups`, groups, 1, MOST_GROUPS, GROUPS_BOUND);
  wholeNumber(`${name}.groupsInFirstStack`, groupsInFirstStack, 1, MOST_GROUPS);
  wholeNumber(`${name}.bufferCopies`, bufferCopies, 0, Math.max(0, groups - 2));
  if (bufferCopies === 0 && kept !== 0)
    throw new Error(`${name}.keepCopiesMinutes: wanted 0, since no write is copied, got ${kept}`);
  wholeNumber(`${name}.keepCopiesMinutes`, kept, 0, MOST_KEPT_MINUTES);
  wholeNumber(`${name}.keyDays`, keyDays, 1, MOST_KEY_DAYS);
  wholeNumber(`${name}.tailers`, tailers, 1, MAX_TAILERS);
  if (access === 'mysql' && !functionsInVpc && name !== 'local') {
    throw new Error(
      `${name}.functionsInVpc: wanted true with access mysql, which reaches the clusters inside their VPC, got false`,
    );
  }
  if (access === 'data-api' && functionsInVpc) {
    throw new Error(`${name}.functionsInVpc: wanted false with access data-api, to which the VPC has no way, got true`);
  }
  if (proxy && access !== 'mysql')
    throw new Error(`${name}.proxy: wanted false with access ${access}, which goes through none, got true`);
  if (databaseAuth === 'iam' && !proxy)
    throw new Error(`${name}.databaseAuth: wanted secret without a proxy, which checks the tokens, got iam`);
  checkManaged(environment);
  checkBackups(environment);
  checkEdge(environment);
  checkConnections(environment);
}

/** Synthesized with 100 groups: 103 rules, 1.2 MB; a loop's instance opens up to 16 sockets to each group. */
const GROUPS_BOUND =
  '. More exceed the 60 rules of a security group, the 1,024 open files of a function and the 1 MB of a template: deploy several environments';

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/u;
const CERTIFICATE = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/u;

function checkEdge({ name, throttle, routeThrottles = {}, domain }: StoreEnvironment): void {
  for (const [operation, of] of Object.entries(routeThrottles)) {
    if (!GATEWAY_ROUTES.some((route) => route.operation === operation))
      throw new Error(
        `${name}.routeThrottles: wanted operations such as ${GATEWAY_ROUTES.slice(0, 3)
          .map((route) => route.operation)
          .join(', ')}, got ${operation}`,
      );
    for (const key of ['ratePerSecond', 'burst'] as const)
      if (!Number.isInteger(of[key]) || of[key] < 1 || of[key] > throttle[key])
        throw new Error(
          `${name}.routeThrottles.${operation}.${key}: wanted a whole number from 1 to ${throttle[key]}, that of all routes, got ${of[key]}`,
        );
  }
  if (!domain) return;
  if (!DOMAIN.test(domain.name))
    throw new Error(`${name}.domain.name: wanted a name such as trips.example.com, got ${domain.name}`);
  if (!Token.isUnresolved(domain.certificateArn) && !CERTIFICATE.test(domain.certificateArn))
    throw new Error(
      `${name}.domain.certificateArn: wanted that of a certificate of ACM, arn:aws:acm:REGION:ACCOUNT:certificate/ID, got ${domain.certificateArn}`,
    );
}

/** Lambda's bound for each vCPU with Node. */
const MOST_AT_ONCE = 64;

function checkManaged({
  name,
  managedInstances,
  access,
  instances,
  canaryMinutes,
  connections,
}: StoreEnvironment): void {
  if (!managedInstances) return;
  const refuse = (why: string): never => {
    throw new Error(`${name}.managedInstances: wanted nothing ${why}, got ${managedInstances.requestsAtOnce} requests`);
  };
  if (access !== 'mysql') refuse(`with access ${access}, whose functions are in no VPC`);
  if (!instances) refuse('without instances, which bound their number');
  if (canaryMinutes !== undefined) refuse('with canaryMinutes: AWS bounds no numbered version');
  wholeNumber(`${name}.managedInstances.requestsAtOnce`, managedInstances.requestsAtOnce, 1, MOST_AT_ONCE);
  const why = ' with managedInstances, whose requests share them';
  wholeNumber(`${name}.connections.request`, connections.request, SHARED_CONNECTIONS, 99, why);
}

const MOST_BACKUP_DAYS = 36_500;
const VAULT = /^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/u;

function checkBackups({ name, backups }: StoreEnvironment): void {
  if (!backups) return;
  const { keepDays, monthlyDays = keepDays, copyTo } = backups;
  wholeNumber(`${name}.backups.keepDays`, keepDays, MOST_RECOVERY_DAYS, MOST_BACKUP_DAYS);
  wholeNumber(`${name}.backups.monthlyDays`, monthlyDays, keepDays, MOST_BACKUP_DAYS);
  if (copyTo !== undefined && !VAULT.test(copyTo))
    throw new Error(
      `${name}.backups.copyTo: wanted the ARN of a vault, arn:aws:backup:REGION:ACCOUNT:backup-vault:NAME, got ${copyTo}`,
    );
}

/** Rejects functions that could take all of a group's connections. */
function checkConnections(environment: StoreEnvironment): void {
  const budget = connectionBudget(environment);
  if (!budget || budget.wanted <= budget.allowed) return;
  const sum = budget.shares.map(({ name, instances, connections }) => `${name} ${instances}×${connections}`).join(', ');
  throw new Error(
    `${environment.name}.instances: wanted at most ${budget.allowed} connections to a group with a capacity of ${environment.capacity.max} ACU, got ${budget.wanted}. Instances × connections: ${sum}`,
  );
}

/** Returns the value. Throws an Error that names the field, and the reason of the bound, if it is out of range. */
function wholeNumber(field: string, value: number, min: number, max: number, why = ''): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  const wanted = min === max ? `${min}` : `a whole number from ${min} to ${max}`;
  throw new Error(`${field}: wanted ${wanted}, got ${describe(value)}${why}`);
}
