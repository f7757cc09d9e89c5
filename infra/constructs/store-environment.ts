import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { DEFINING_HANDLER, Operation, Route } from '../../shared/api/routes.ts';
import type { Definitions } from '../../shared/definitions/definitions.ts';
import type { Access, DatabaseAuth } from '../../shared/environment.ts';

/** What may differ between stores. */
export interface StoreEnvironment {
  /** Lower-case letters, digits and single hyphens; part of names, metrics and logs. */
  readonly name: string;
  /** Shard groups, one MySQL cluster each: 1 to `MOST_GROUPS`. */
  readonly groups: number;
  /** Groups in the storage's own stack, see `group-stacks.ts`. Fixed once reached. @default 12 */
  readonly groupsInFirstStack?: number;
  readonly readersPerGroup: number;
  /** Capacity of each node in ACU (1 ACU is about 2 GiB of memory). The maximum also fixes `max_connections`. */
  readonly capacity: { readonly min: number; readonly max: number };
  /** I/O is paid singly, or included at higher prices; `npm run capacity` computes the break-even. @default standard */
  readonly storage?: 'standard' | 'io-optimized';
  readonly access: Access;
  /** An RDS Proxy for each group, with writer and reader endpoints: `mysql` access only. */
  readonly proxy: boolean;
  /** Functions log in with a secret's password, or with a role's token that a proxy checks. */
  readonly databaseAuth: DatabaseAuth;
  /** Most connections of an instance to each endpoint of a group, for functions that answer requests and for loops. */
  readonly connections: { readonly request: number; readonly loop: number };
  /** Reserved instances of the functions behind the API, which limit a runaway client. @default the account's limit */
  readonly instances?: Readonly<Record<Exclude<Route['handler'], typeof DEFINING_HANDLER>, number>>;
  /** MiB of tailers and repair; 1,769 is one CPU. */
  readonly loopMemoryMb: number;
  /** Sends traces to AWS X-Ray. */
  readonly tracing: boolean;
  /** Secondaries that buffer a write: at most groups - 2, so that one lost group refuses no write. */
  readonly bufferCopies: number;
  /**
   * Minutes that drained copies stay, 0 to 10,080: a group restored to a later point loses nothing. Takes the room of
   * that time's writes and a third more. @default 0
   */
  readonly keepCopiesMinutes?: number;
  /** Tailing workers, unless the state table says otherwise: 1 to `MAX_TAILERS`. */
  readonly tailers: number;
  /** Nodes share one storage: what the writer shows, any promoted reader shows. */
  readonly sharedStorage: boolean;
  /** Required by `mysql` access, forbidden with `data-api`. */
  readonly functionsInVpc: boolean;
  /**
   * Two or three zone ids for the store's own network, such as `use1-az1`; a third may be added at the end. @default
   * the region's
   */
  readonly zones?: readonly string[];
  /** A private range of /16 to /20. Fixed. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /** A role with a second factor runs SQL over the RDS Data API in an emergency. @default false */
  readonly breakGlass?: boolean;
  /** Days between password changes, 1 to 1,000; requests do not notice. @default 0, never */
  readonly passwordDays?: number;
  /** Daily copies by AWS Backup, next to point-in-time recovery. */
  readonly backups?: BackupSettings;
  /** Days for which the keys table can be restored, 1 to 35: so long a forgotten subject could return. @default 35 */
  readonly keyDays?: number;
  /**
   * An endpoint of Secrets Manager for functions in a VPC with token logins, to read the root key. @default false: then
   * no fields are sealed and no records signed
   */
  readonly sealsFields?: boolean;
  /** Clusters and stacks refuse deletion. */
  readonly protectedFromDeletion: boolean;
  /** Runs drain, repair, mover and tailers. Off, they rest and an idle cluster can pause: only for trials. */
  readonly schedules: boolean;
  /** Minutes in which a deployment shifts a tenth of the calls, and rolls back on errors. @default all calls at once */
  readonly canaryMinutes?: 10 | 15 | 30;
  /** Requests a second, and at once; API Gateway answers 429 beyond. */
  readonly throttle: Throttle;
  /** Limits of single routes (`readLog`, `batchGet`), within those of all. @default that of all */
  readonly routeThrottles?: RouteThrottles;
  /** A domain name for the API. */
  readonly domain?: ApiDomain;
  /**
   * Origins of pages that may call the API (CORS), or `*`. Pages still sign requests. The local stack knows
   * `http://localhost:*` for any port.
   */
  readonly corsOrigins: readonly string[];
  /** Serves the console at `/console`, for callers that IAM allows. @default false */
  readonly console?: boolean;
  readonly logDays: RetentionDays;
  /** The API may define datastores, with at most this many shards, indexes and triggers. @default deployments alone */
  readonly definedByApi?: { readonly mostShards: number };
  /** Shard counts by datastore, instead of the YAML's. */
  readonly shards: Readonly<Record<string, number>>;
  readonly maxShards?: number;
}

export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export type RouteThrottles = Readonly<Partial<Record<Operation, Throttle>>>;

export interface ApiDomain {
  /** Its DNS points at the service stack's output. */
  readonly name: string;
  /** An ACM certificate in the store's region. */
  readonly certificateArn: string;
}

export interface BackupSettings {
  /** 1 to 36,500. */
  readonly keepDays: number;
  /** A vault in another region for a second copy. */
  readonly copyTo?: string;
}

/** Tested against the limits of templates and policies. */
export const MOST_GROUPS = 40;

/** The usual number of partitions. */
export const MAX_TAILERS = 64;

/** DynamoDB's maximum. */
export const MOST_KEY_DAYS = 35;

/** A week. */
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
