import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Handler } from '../../shared/api/operation.ts';
import type { DEFINING_HANDLER, OperationName } from '../../shared/api/operations.ts';
import type { Definitions } from '../../shared/definitions/definitions.ts';
import type { Access, DatabaseAuth } from '../../shared/environment.ts';

/** Settings that may differ between stores. A `@default` is that of `StoreOptions`. */
export interface StoreEnvironment {
  /** Lower-case letters, digits and single hyphens; part of names, metrics and logs. */
  readonly name: string;
  /** Shard groups, one MySQL cluster each: 1 to 40. Fixed once there is data. @default 1 with data-api, 3 with mysql */
  readonly groups: number;
  /** Groups in the storage's stack, 1 to 40; more need a `storageScope`. Fixed once reached. @default 12 */
  readonly groupsInFirstStack?: number;
  readonly readersPerGroup: number;
  /**
   * Of each node, in ACU (about 2 GiB), in halves: 0 (it pauses) to 256. The maximum fixes `max_connections`.
   * @default 0 to 4 with data-api, 1 to 16 with mysql
   */
  readonly capacity: { readonly min: number; readonly max: number };
  /** I/O is paid singly, or included at higher prices; `npm run capacity` computes the break-even. @default standard */
  readonly storage?: 'standard' | 'io-optimized';
  /** The RDS Data API, or connections inside the clusters' VPC. @default data-api */
  readonly access: Access;
  /** An RDS Proxy for each group, with `mysql` only: functions log in without a password. @default true with mysql */
  readonly proxy: boolean;
  /** Functions log in with a secret's password, or with a role's token that a proxy checks. */
  readonly databaseAuth: DatabaseAuth;
  /** Most connections of an instance to each endpoint of a group, for functions that answer requests and for loops. */
  readonly connections: { readonly request: number; readonly loop: number };
  /** Reserved instances of the functions behind the API, which limit a runaway client. @default the account's limit */
  readonly instances?: Readonly<Record<Exclude<Handler, typeof DEFINING_HANDLER>, number>>;
  /**
   * Runs the functions that answer most requests on Lambda Managed Instances: each environment, of one vCPU, takes up
   * to 64 requests at once, and `instances` bounds their number. With `mysql`, not with `canaryMinutes`.
   * @default on demand, one request an instance
   */
  readonly managedInstances?: { readonly requestsAtOnce: number };
  /** MiB of tailers and repair; 1,769 is one CPU. @default 512 with data-api, 1769 with mysql */
  readonly loopMemoryMb: number;
  /** Sends traces to AWS X-Ray. @default true */
  readonly tracing: boolean;
  /**
   * Groups that buffer a write: at most groups - 2, so that one lost group refuses no write.
   * @default 1 with three groups or more, else 0
   */
  readonly bufferCopies: number;
  /**
   * Minutes that drained copies stay, 0 to 10,080: a group restored to a later point loses nothing. Takes the room of
   * that time's writes and a third more. @default 60 with mysql and copies, else 0
   */
  readonly keepCopiesMinutes?: number;
  /** Concurrent batches of each trigger's function, 2 to 1,000, unless it has its own number. @default 50 */
  readonly triggerConcurrency?: number;
  /** Tailing workers, unless the state table says otherwise: 1 to 64. @default 1, with mysql from 8 ACU on 4 */
  readonly tailers: number;
  /** Nodes share one storage: what the writer shows, any promoted reader shows. */
  readonly sharedStorage: boolean;
  /** Required by `mysql` access, forbidden with `data-api`. */
  readonly functionsInVpc: boolean;
  /**
   * Two or three zone ids of the store's VPC, such as `use1-az1`. Fixed, except for a third at the end. Not with `vpc`.
   * @default those of the stack's region, if known
   */
  readonly zones?: readonly string[];
  /** The store's VPC: a private range of /16 to /20. Fixed. Not with `vpc`. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /** A role with a second factor runs SQL over the RDS Data API in an emergency. @default false */
  readonly breakGlass?: boolean;
  /** Days between password changes, 1 to 1,000, or 0 for never; requests do not notice. @default 30 */
  readonly passwordDays?: number;
  /** Copies by AWS Backup. @default point-in-time recovery of 35 days alone */
  readonly backups?: BackupSettings;
  /** Days for which the keys table can be restored, 1 to 35: so long a forgotten subject could return. @default 35 */
  readonly keyDays?: number;
  /**
   * Datastores may have sealed fields. With RDS Proxies that takes an endpoint of Secrets Manager, paid by the hour.
   * @default false with a proxy, else true
   */
  readonly sealsFields?: boolean;
  /** Clusters and stacks refuse deletion. */
  readonly protectedFromDeletion: boolean;
  /** Runs drain, maintenance, mover and tailers. Off (trials only), an idle cluster can pause. @default true */
  readonly schedules: boolean;
  /** Minutes in which a deployment shifts a tenth of the calls, and rolls back on errors. @default all calls at once */
  readonly canaryMinutes?: 10 | 15 | 30;
  /**
   * Requests a second, and at once; API Gateway answers 429 beyond.
   * @default 100 and 200 with data-api, 5000 and 2500 with mysql
   */
  readonly throttle: Throttle;
  /** Limits of single routes (`readLog`, `batchGet`), within those of all. @default that of all */
  readonly routeThrottles?: RouteThrottles;
  /** A domain name for the API; its DNS points at `store.domainTarget`. @default API Gateway's name */
  readonly domain?: ApiDomain;
  /** Origins of pages that may call the API: `https://shop.example`, `http://localhost:*`, `*`. @default none */
  readonly corsOrigins: readonly string[];
  /** Serves the console at `/console`, for callers that IAM allows; `schemaless console` opens it. @default false */
  readonly console?: boolean;
  /** Days that logs are kept. @default 14 with data-api, 90 with mysql */
  readonly logDays: RetentionDays;
  /**
   * The API may define datastores, with at most this many shards, indexes and triggers. Not with `encryptionKey`, which
   * their queues would lack. @default deployments alone
   */
  readonly definedByApi?: { readonly mostShards: number };
  /** Shard counts by datastore. @default those of the definitions */
  readonly shards: Readonly<Record<string, number>>;
  readonly maxShards?: number;
}

interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

type RouteThrottles = Readonly<Partial<Record<OperationName, Throttle>>>;

interface ApiDomain {
  /** Its DNS points at the service stack's output. */
  readonly name: string;
  /** An ACM certificate in the store's region. */
  readonly certificateArn: string;
}

export interface BackupSettings {
  /** Days that a weekly copy stays, 35 to 36,500; daily ones stay 35 days. */
  readonly keepDays: number;
  /** Days that a monthly copy stays, as many at least. @default no monthly copies */
  readonly monthlyDays?: number;
  /** A vault in another region for a second copy of each; daily ones stay there for a week. */
  readonly copyTo?: string;
}

/** Tested against the limits of templates and policies. */
export const MOST_GROUPS = 40;

/** The usual number of partitions. */
export const MAX_TAILERS = 64;

/** Usual concurrent batches of a trigger: a backlog leaves most of an account's 1,000 to requests. */
export const TRIGGER_CONCURRENCY = 50;

/** DynamoDB's maximum. */
export const MOST_KEY_DAYS = 35;

/** Seven days. */
export const MOST_KEPT_MINUTES = 10_080;

/** Applies the environment's shard counts. */
export function definitionsIn(environment: StoreEnvironment, definitions: Definitions): Definitions {
  const limit = environment.maxShards ?? Number.POSITIVE_INFINITY;
  return {
    ...definitions,
    datastores: definitions.datastores.map((datastore) => ({
      ...datastore,
      shards: Math.min(environment.shards[datastore.name] ?? datastore.shards, limit),
    })),
  };
}

/** Days for which a protected cluster can be restored to a point in time, Aurora's most: snapshots are free so long. */
export const MOST_RECOVERY_DAYS = 35;

/** Days for which a cluster can be restored to a point in time. */
export function recoveryDays({ protectedFromDeletion }: Pick<StoreEnvironment, 'protectedFromDeletion'>): number {
  return protectedFromDeletion ? MOST_RECOVERY_DAYS : 1;
}

/** The rules of AWS Backup: days between copies, days that they stay here, and in another region. */
export function backupRules({ keepDays, monthlyDays: days }: BackupSettings) {
  return [
    { name: 'daily', on: {}, every: 1, days: MOST_RECOVERY_DAYS, elsewhere: 7 },
    { name: 'weekly', on: { weekDay: 'SUN' }, every: 7, days: keepDays, elsewhere: keepDays },
    ...(days === undefined ? [] : [{ name: 'monthly', on: { day: '1' }, every: 30, days, elsewhere: days }]),
  ];
}

/** Days for which the keys table can be restored; 0 locally, without restores. */
export function keyDays({
  name,
  keyDays: desired = MOST_KEY_DAYS,
}: Pick<StoreEnvironment, 'name' | 'keyDays'>): number {
  return name === 'local' ? 0 : desired;
}

/** The most days that a backup holds erased data; 0 locally, without backups. */
export function backupDays(environment: Pick<StoreEnvironment, 'name' | 'backups' | 'protectedFromDeletion'>): number {
  if (environment.name === 'local') return 0;
  const { keepDays = 0, monthlyDays = 0 } = environment.backups ?? {};
  return Math.max(keepDays, monthlyDays, recoveryDays(environment));
}

/** Whether functions reach the root key of sealed fields: a VPC with token logins needs an endpoint. */
export function canSeal({
  functionsInVpc,
  databaseAuth,
  sealsFields = false,
}: Pick<StoreEnvironment, 'functionsInVpc' | 'databaseAuth' | 'sealsFields'>): boolean {
  return !functionsInVpc || databaseAuth === 'secret' || sealsFields;
}

/** Short names: the RDS Data API takes ARNs of 100 characters, and names from logical ids are longer. */
export function clusterName({ name }: Pick<StoreEnvironment, 'name'>, group: string): string {
  return `schemaless-${name}-${group}`;
}

/** A cluster's or node's group: for bills, and for other runners of the template. */
export const GROUP_TAG = 'schemaless:group';

/** The node's name: `group-1-a` is the first writer. */
export const NODE_TAG = 'schemaless:node';

/** The store's version at the last deployment. */
export const VERSION_TAG = 'schemaless:version';
