import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Route } from '../shared/api/routes.ts';
import type { Definitions } from '../shared/definitions/definitions.ts';
import type { Access, DatabaseAuth } from '../shared/environment.ts';

/** What may differ between environments; everything else is the same app. */
export interface EnvironmentProps {
  readonly name: EnvironmentName;
  /** Shard groups, one MySQL cluster each. */
  readonly groups: number;
  /** Readers of each group, besides its writer. */
  readonly readersPerGroup: number;
  /** Capacity of each node in ACU (1 ACU is about 2 GiB of memory). The maximum also fixes `max_connections`. */
  readonly capacity: { readonly min: number; readonly max: number };
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
  readonly instances?: Readonly<Record<Exclude<Route['handler'], 'define-datastores'>, number>>;
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
   * Workers that tail the shards for the triggers, side by side, unless the state table says otherwise: 1 to
   * `MAX_TAILERS`.
   */
  readonly tailers: number;
  /** All nodes of a cluster share one storage, so that what the writer shows any promoted reader will show. */
  readonly sharedStorage: boolean;
  /** Functions run inside the VPC of the clusters: `mysql` access needs it, `data-api` access must not have it. */
  readonly functionsInVpc: boolean;
  /** Clusters and stacks refuse to be deleted. */
  readonly protectedFromDeletion: boolean;
  /**
   * The functions that run all the time: drain, repair, tailers. Off, buffers, indexes and triggers rest, and a cluster
   * whose least capacity is 0 pauses when nobody asks. Fit only for trying things out.
   */
  readonly schedules: boolean;
  /** Requests of the API: on average each second, and at once. API Gateway answers 429 beyond. */
  readonly throttle: { readonly ratePerSecond: number; readonly burst: number };
  /**
   * Origins of web pages that may ask the API from a browser (CORS), such as `https://shop.example`, or `*` for all; none
   * lets no other origin's page read an answer. A page still has to sign its requests where they have to be signed.
   */
  readonly corsOrigins: readonly string[];
  /** Days that logs are kept. */
  readonly logDays: RetentionDays;
  /**
   * Datastores, indexes and triggers can be made and deleted through the API, too; a datastore made so gets no more
   * shards than this. @default they go by deploy alone
   */
  readonly definedByApi?: { readonly mostShards: number };
  /** Shard counts by datastore, in place of those of the YAML. */
  readonly shards: Readonly<Record<string, number>>;
  /** No datastore gets more shards than this. @default no limit */
  readonly maxShards?: number;
}

/** As many as there are partitions as a rule; more would have nothing to tail. */
export const MAX_TAILERS = 64;

export const ENVIRONMENT_NAMES = ['local', 'dev', 'prod'] as const;
export type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number];

export const ENVIRONMENTS: Readonly<Record<EnvironmentName, EnvironmentProps>> = {
  /** One machine. Groups, readers and shards can be set, see `app-context.ts`. */
  local: {
    name: 'local',
    // The fewest that survive one lost group without refusing writes.
    groups: 3,
    readersPerGroup: 1,
    // No meaning there; what the template says is not looked at.
    capacity: { min: 0.5, max: 1 },
    access: 'mysql',
    proxy: false,
    databaseAuth: 'secret',
    // Instances take requests side by side here.
    connections: { request: 8, loop: 8 },
    // The bound of their heaps there.
    loopMemoryMb: 1769,
    tracing: false,
    bufferCopies: 1,
    tailers: 1,
    // Real servers with real asynchronous replication, each on its own files.
    sharedStorage: false,
    functionsInVpc: false,
    protectedFromDeletion: false,
    schedules: true,
    // No meaning there.
    throttle: { ratePerSecond: 10_000, burst: 5000 },
    // Of who develops a page on the same machine, at a port of its own.
    corsOrigins: ['*'],
    logDays: 7,
    shards: {},
    definedByApi: { mostShards: 64 },
    // 4096 databases take half a minute to create, and gigabytes; 64 are there at once, and spread as well over a few
    // groups.
    maxShards: 64,
  },

  /** Cheap: one cluster, so no buffer; writes answer 503 while it is down. */
  dev: {
    name: 'dev',
    groups: 1,
    // A writer that is lost is made anew within ten minutes; nobody reads from readers over the Data API.
    readersPerGroup: 0,
    // It pauses after five minutes without a statement: with the schedules off, see `schedules`.
    capacity: { min: 0, max: 4 },
    // No VPC for functions, no endpoints to pay for by the hour, no connections to hold.
    access: 'data-api',
    proxy: false,
    databaseAuth: 'secret',
    // None are held over the Data API.
    connections: { request: 1, loop: 1 },
    // No instances reserved: accounts that are new may have ten in all.
    // Enough for a few cells a second, at a third of the price.
    loopMemoryMb: 512,
    tracing: true,
    bufferCopies: 0,
    tailers: 1,
    sharedStorage: true,
    functionsInVpc: false,
    protectedFromDeletion: false,
    schedules: true,
    // A runaway client is to be noticed, not paid for.
    throttle: { ratePerSecond: 100, burst: 200 },
    corsOrigins: [],
    logDays: 14,
    definedByApi: { mostShards: 256 },
    // One small cluster: thousands of databases would fill its memory with table definitions.
    shards: { trips: 256 },
  },

  prod: {
    name: 'prod',
    // 512 databases each: Aurora was seen to slow down past about 600 schemas. With two readers these are 24
    // instances, below the 40 that an account may have unless asked for.
    groups: 8,
    // One to be promoted, and still one to read from when a node is away.
    readersPerGroup: 2,
    // 16 ACU allow 2,000 connections, see `connectionBudget`.
    capacity: { min: 1, max: 16 },
    access: 'mysql',
    proxy: true,
    // No function may read a password.
    databaseAuth: 'iam',
    // An instance answers one request at a time; what a batch does on one group is a transaction.
    connections: { request: 3, loop: 8 },
    // 360 of the 1,000 that an account may have as a rule, and 1,440 connections, with one each for signs of life.
    instances: { 'write-cells': 180, 'read-cells': 120, 'query-index': 55, 'manage-triggers': 5 },
    loopMemoryMb: 1769,
    tracing: true,
    // Covers the minute in which a writer fails over; within a region Aurora itself loses no acknowledged commit.
    bufferCopies: 1,
    // A quarter of the partitions each: one that dies leaves three quarters of the shards as they were.
    tailers: 4,
    sharedStorage: true,
    functionsInVpc: true,
    protectedFromDeletion: true,
    schedules: true,
    // Half of what an account may have as a rule, which it shares with its other APIs.
    throttle: { ratePerSecond: 5000, burst: 2500 },
    corsOrigins: [],
    logDays: 90,
    shards: {},
  },
};

/** The definitions as this environment has them: with its own shard counts. */
export function definitionsIn(environment: EnvironmentProps, definitions: Definitions): Definitions {
  const limit = environment.maxShards ?? Number.POSITIVE_INFINITY;
  return {
    ...definitions,
    datastores: definitions.datastores.map((datastore) => ({
      ...datastore,
      shards: Math.min(environment.shards[datastore.name] ?? datastore.shards, limit),
    })),
  };
}
