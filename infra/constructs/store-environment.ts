import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { DEFINING_HANDLER, Operation, Route } from '../../shared/api/routes.ts';
import type { Definitions } from '../../shared/definitions/definitions.ts';
import type { Access, DatabaseAuth } from '../../shared/environment.ts';

/** What may differ between stores; everything else is the same in all of them. */
export interface StoreEnvironment {
  /** Small letters, digits and single hyphens: a part of names, and what figures and logs are told apart by. */
  readonly name: string;
  /** Shard groups, one MySQL cluster each: 1 to `MOST_GROUPS`. */
  readonly groups: number;
  /**
   * Groups that the storage's own stack takes; those after them are in stacks of their own, see `group-stacks.ts`. Fixed
   * once there are as many. @default 12
   */
  readonly groupsInFirstStack?: number;
  readonly readersPerGroup: number;
  /** Capacity of each node in ACU (1 ACU is about 2 GiB of memory). The maximum also fixes `max_connections`. */
  readonly capacity: { readonly min: number; readonly max: number };
  /**
   * How Aurora's storage is paid for: by each I/O, or at higher prices with none; `npm run capacity` says from which load
   * on the latter is cheaper. @default standard
   */
  readonly storage?: 'standard' | 'io-optimized';
  readonly access: Access;
  /** An RDS Proxy before each group, with an endpoint for its writer and one for its readers: `mysql` access alone. */
  readonly proxy: boolean;
  /** How functions log in: with the password of a secret, or with a token of their role, which a proxy checks. */
  readonly databaseAuth: DatabaseAuth;
  /**
   * Connections that an instance opens to each endpoint of each group at most: of functions that answer requests, one
   * at a time, and of those that loop.
   */
  readonly connections: { readonly request: number; readonly loop: number };
  /**
   * Instances of the functions behind the API that run at once at most, reserved for them: what a runaway client can do
   * to MySQL ends here. @default as many as the account allows
   */
  readonly instances?: Readonly<Record<Exclude<Route['handler'], typeof DEFINING_HANDLER>, number>>;
  /**
   * MiB of the functions that follow logs all the time, tailers and repair; a function's share of a CPU grows with it,
   * 1,769 is one whole. Paid for by the second.
   */
  readonly loopMemoryMb: number;
  /** Each function gives AWS X-Ray a trace of its calls. */
  readonly tracing: boolean;
  /** On how many secondaries a write is buffered: at most groups - 2, so that one lost group refuses no write. */
  readonly bufferCopies: number;
  /**
   * Copies stay on their secondaries for so long after they were drained: a group that is set back in time by less than
   * that gets everything back from the others. Takes the room of what is written in that time and a third of it more, and
   * a statement for each twenty copies. Up to 10,080, a week. @default 0, none are kept
   */
  readonly keepCopiesMinutes?: number;
  /**
   * Workers that tail the shards for the triggers, side by side, unless the state table says otherwise: 1 to
   * `MAX_TAILERS`.
   */
  readonly tailers: number;
  /** All nodes of a cluster share one storage, so that what the writer shows any promoted reader will show. */
  readonly sharedStorage: boolean;
  /** Functions run inside the VPC of the clusters: `mysql` access needs it, `data-api` access must not have it. */
  readonly functionsInVpc: boolean;
  /**
   * Ids of the two or three availability zones that a network of the store's own is in, such as `use1-az1`; a third may
   * come later, at the end, nothing else can change. @default those of the region, where it is known
   */
  readonly zones?: readonly string[];
  /** Of a network of the store's own: a private range of /16 to /20. Fixed. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /**
   * People may run SQL on the clusters in an emergency, over the RDS Data API, by a role that takes a second factor.
   * @default nobody reaches MySQL but functions
   */
  readonly breakGlass?: boolean;
  /**
   * Days after which passwords are changed, those of functions where they have any, and those of the clusters' owners: 1
   * to 1,000. No request notices. @default 0, never
   */
  readonly passwordDays?: number;
  /**
   * Copies of clusters and tables once a day by AWS Backup, besides their own recovery to any second of the last days.
   */
  readonly backups?: BackupSettings;
  /**
   * How many days the table of keys can be set back, 1 to 35: so long a subject that was forgotten could be brought back
   * by who may do that. @default 35
   */
  readonly keyDays?: number;
  /**
   * Functions in a VPC that log in with tokens have an endpoint of Secrets Manager, to read the root key of sealed fields.
   *
   * @default false: an environment with such functions seals no fields, and signs no records
   */
  readonly sealsFields?: boolean;
  /** Clusters and stacks refuse to be deleted. */
  readonly protectedFromDeletion: boolean;
  /**
   * The functions that run all the time: drain, repair, mover, tailers. Off, buffers, indexes, moves and triggers rest,
   * and a cluster whose least capacity is 0 pauses when nobody asks. Fit only for trying things out.
   */
  readonly schedules: boolean;
  /**
   * A deployment leads a tenth of the calls of each function behind the API to its new version for so many minutes, and
   * goes back when requests are not served meanwhile. @default all calls at once
   */
  readonly canaryMinutes?: 10 | 15 | 30;
  /** Requests of the API: on average each second, and at once. API Gateway answers 429 beyond. */
  readonly throttle: Throttle;
  /** Of single routes, by what they do (`readLog`, `batchGet`): at most what all may together. @default that of all */
  readonly routeThrottles?: RouteThrottles;
  /** A name of one's own before the API, besides that of API Gateway. */
  readonly domain?: ApiDomain;
  /**
   * Origins of web pages that may ask the API from a browser (CORS), such as `https://shop.example`, or `*` for all; none
   * lets no other origin's page read an answer. A page still has to sign its requests where they have to be signed. The
   * local stack knows `http://localhost:*`, too, for any port.
   */
  readonly corsOrigins: readonly string[];
  /**
   * The API has the console, too: a page for people at `/console`, for whoever may call that by IAM; `schemaless console`
   * opens it. @default false
   */
  readonly console?: boolean;
  readonly logDays: RetentionDays;
  /**
   * Datastores, indexes and triggers can be made and deleted through the API, too; a datastore made so gets no more
   * shards than this. @default they go by deploy alone
   */
  readonly definedByApi?: { readonly mostShards: number };
  /** Shard counts by datastore, in place of those of the YAML. */
  readonly shards: Readonly<Record<string, number>>;
  /** No datastore gets more shards than this. */
  readonly maxShards?: number;
}

/** Requests on average each second, and at once. */
export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export type RouteThrottles = Readonly<Partial<Record<Operation, Throttle>>>;

export interface ApiDomain {
  /** Such as `trips.example.com`. Its DNS points at what the service's stack prints. */
  readonly name: string;
  /** ARN of a certificate of ACM for it, in the store's region. */
  readonly certificateArn: string;
}

export interface BackupSettings {
  /** Days that each copy is kept: 1 to 36,500. */
  readonly keepDays: number;
  /** ARN of a vault in another region that gets each copy, too. @default there is one copy */
  readonly copyTo?: string;
}

/** So many were synthesized, and held to what AWS takes of templates and policies. */
export const MOST_GROUPS = 40;

/** As many as there are partitions as a rule; more would have nothing to tail. */
export const MAX_TAILERS = 64;

/** Of `keyDays`: what DynamoDB has. */
export const MOST_KEY_DAYS = 35;

/** Of `keepCopiesMinutes`: a week. */
export const MOST_KEPT_MINUTES = 10_080;

/** The definitions as this environment has them: with its own shard counts. */
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
