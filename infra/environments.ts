import type { StoreEnvironment } from './constructs/store-environment.ts';

/** Settings that may differ between the environments of this project. */
export interface EnvironmentProps extends StoreEnvironment {
  readonly name: EnvironmentName;
  /** The only account for deployments, twelve digits. @default the account of the credentials */
  readonly account?: string;
  /** The only region for deployments; the network uses its zones by id. @default the region of the credentials */
  readonly region?: string;
  /** The address for alarms, if no context names another. */
  readonly alarmEmail?: string;
}

export const ENVIRONMENT_NAMES = ['local', 'dev', 'small', 'staging', 'prod'] as const;
export type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number];

export const ENVIRONMENTS: Readonly<Record<EnvironmentName, EnvironmentProps>> = {
  /** One machine. Groups, readers and shards can be set, see `app-context.ts`. */
  local: {
    name: 'local',
    // The fewest that survive one lost group without refusing writes.
    groups: 3,
    // Nothing bounds a template there.
    groupsInFirstStack: 20,
    readersPerGroup: 1,
    // No meaning there; the local stack ignores it in the template.
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
    // Pages that a developer serves from the same machine, at any port; any other page could delete everything.
    corsOrigins: ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'],
    console: true,
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
    // A lost writer is rebuilt within ten minutes; no function reads from readers over the Data API.
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
    breakGlass: true,
    passwordDays: 30,
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

  /** For a young team: keeps all promises on small clusters, while the schedules are on. `aws.md` lists its limits. */
  small: {
    name: 'small',
    // The fewest that survive one lost group without refusing writes.
    groups: 3,
    // A lost writer is rebuilt within ten minutes; until then, its writes are buffered.
    readersPerGroup: 0,
    // They pause after five minutes without a statement: with the schedules off, see `schedules`.
    capacity: { min: 0, max: 8 },
    // Cheaper when idle than a VPC, which needs endpoints billed by the hour: `npm run capacity`.
    access: 'data-api',
    proxy: false,
    databaseAuth: 'secret',
    // None are held over the Data API.
    connections: { request: 1, loop: 1 },
    // A fifth of a CPU.
    loopMemoryMb: 384,
    tracing: false,
    // Covers a group that is down.
    bufferCopies: 1,
    tailers: 1,
    sharedStorage: true,
    functionsInVpc: false,
    breakGlass: true,
    passwordDays: 30,
    protectedFromDeletion: true,
    schedules: true,
    throttle: { ratePerSecond: 200, burst: 400 },
    corsOrigins: [],
    logDays: 30,
    // 256 databases on each of its small clusters.
    shards: { trips: 768 },
  },

  /** The ways of `prod`, small: what is to be deployed there is deployed here before. */
  staging: {
    name: 'staging',
    groups: 3,
    readersPerGroup: 1,
    // 8 ACU allow 1,000 connections.
    capacity: { min: 0.5, max: 8 },
    access: 'mysql',
    proxy: true,
    databaseAuth: 'iam',
    connections: { request: 3, loop: 8 },
    // An account that has `prod`, too, has some 500 left for it.
    instances: {
      'write-cells': 30,
      'read-cells': 20,
      'query-index': 8,
      'manage-triggers': 2,
      'manage-moves': 2,
      'erase-cells': 2,
    },
    loopMemoryMb: 1769,
    tracing: true,
    bufferCopies: 1,
    keepCopiesMinutes: 60,
    // Several, so that they share the partitions.
    tailers: 2,
    sharedStorage: true,
    functionsInVpc: true,
    breakGlass: true,
    passwordDays: 30,
    protectedFromDeletion: false,
    schedules: true,
    throttle: { ratePerSecond: 500, burst: 250 },
    canaryMinutes: 10,
    corsOrigins: [],
    logDays: 14,
    shards: { trips: 768 },
  },

  prod: {
    name: 'prod',
    // 512 databases each: Aurora was seen to slow down past about 600 schemas. With two readers these are 24
    // instances, below the 40 that an account may have unless asked for.
    groups: 8,
    // One to be promoted, and still one to read from when a node is unavailable.
    readersPerGroup: 2,
    // 16 ACU allow 2,000 connections, see `connectionBudget`.
    capacity: { min: 1, max: 16 },
    access: 'mysql',
    proxy: true,
    // No function may read a password.
    databaseAuth: 'iam',
    // An instance answers one request at a time; what a batch does on one group is a transaction.
    connections: { request: 3, loop: 8 },
    // 364 of an account's usual 1,000, next to 19 for loops; 1,448 connections, one per instance for health checks.
    instances: {
      'write-cells': 180,
      'read-cells': 120,
      'query-index': 55,
      'manage-triggers': 5,
      'manage-moves': 2,
      'erase-cells': 2,
    },
    loopMemoryMb: 1769,
    tracing: true,
    // Covers the minute in which a writer fails over; within a region Aurora itself loses no acknowledged commit.
    bufferCopies: 1,
    // The time for an operator to notice that a group needs a restore, and to take it offline: from then on all stay.
    keepCopiesMinutes: 60,
    // A quarter of the partitions each: one that dies leaves three quarters of the shards as they were.
    tailers: 4,
    sharedStorage: true,
    functionsInVpc: true,
    breakGlass: true,
    passwordDays: 30,
    // A weekly copy beyond the 35 days in which clusters and tables restore to any second: each is billed at full size.
    // `-c backupVault=ARN`: another region.
    backups: { keepDays: 90 },
    protectedFromDeletion: true,
    schedules: true,
    // Half of an account's usual limit, which its other APIs share.
    throttle: { ratePerSecond: 5000, burst: 2500 },
    // Longer than the alarm looks back that takes a deployment back.
    canaryMinutes: 15,
    corsOrigins: [],
    logDays: 90,
    shards: {},
  },
};
