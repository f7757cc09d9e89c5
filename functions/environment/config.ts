import {
  ACCESSES,
  CONSUMER_VARIABLES,
  DATABASE_AUTHS,
  ENVIRONMENT_VARIABLES,
  type Access,
  type ConsumerVariable,
  type DatabaseAuth,
  type StoreVariable,
} from '../../shared/environment.ts';
import { MAX_SHARDS } from '../../shared/definitions/definitions.ts';
import { DATABASE_USERS, type DatabaseUser } from '../../shared/topology/database-users.ts';
import { MAX_TAILERS } from '../../shared/triggers/send/tailer-count.ts';
import { oneOf, readVariables, text, wholeNumber, type Variables } from './variables.ts';

/** Variables of the functions; each function gets some. */
export interface Config {
  readonly environment: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  /** Secondaries that buffer a write: 0 to 999. */
  readonly bufferCopies: number;
  readonly access: Access;
  readonly databaseUser: DatabaseUser;
  readonly databaseAuth: DatabaseAuth;
  /** Most connections to each endpoint of each group: 1 to 99. */
  readonly connections: number;
  readonly apiUrl: string;
  readonly datastore: string;
  /** Tailing workers: 0 to 64. */
  readonly tailers: number;
  /** Most shards of a datastore made through the API: 1 to 65,536. */
  readonly mostShards: number;
  readonly canSeal: (typeof BOOLEANS)[number];
  /** Seconds that drained copies stay: 0 to 604,800. */
  readonly keepCopies: number;
  /** Most days that backups are kept: 0 to 36,500. */
  readonly backupDays: number;
  readonly keysTable: string;
  readonly rootSecret: string;
  /** Days for which the keys table can be restored: 0 to 35. */
  readonly keyDays: number;
  /** `s3://bucket/prefix`. */
  readonly exportTo: string;
  readonly exportFormat: (typeof FORMATS)[number];
  readonly exportCompression: (typeof COMPRESSIONS)[number];
  readonly exportRead: (typeof ROLES)[number];
  /** Empty for AWS's own. */
  readonly s3Endpoint: string;
  readonly region: string;
}

const BOOLEANS = ['true', 'false'] as const;
const FORMATS = ['ndjson', 'parquet'] as const;
const COMPRESSIONS = ['gzip', 'zstd', 'none'] as const;
const ROLES = ['writer', 'reader'] as const;

export type StoreConfig = Pick<Config, StoreVariable>;
export type ConsumerConfig = Pick<Config, ConsumerVariable | 'region'>;
export const CONSUMER_KEYS = [...CONSUMER_VARIABLES, 'region'] as const;

const VARIABLES: Variables<Config> = {
  environment: text(ENVIRONMENT_VARIABLES.environment, 'the name of an environment'),
  topologyTable: text(ENVIRONMENT_VARIABLES.topologyTable, 'the name of a table'),
  stateTable: text(ENVIRONMENT_VARIABLES.stateTable, 'the name of a table'),
  bufferCopies: wholeNumber(ENVIRONMENT_VARIABLES.bufferCopies, 0, 999),
  access: oneOf(ENVIRONMENT_VARIABLES.access, ACCESSES),
  databaseUser: oneOf(ENVIRONMENT_VARIABLES.databaseUser, DATABASE_USERS),
  databaseAuth: oneOf(ENVIRONMENT_VARIABLES.databaseAuth, DATABASE_AUTHS),
  connections: wholeNumber(ENVIRONMENT_VARIABLES.connections, 1, 99),
  apiUrl: text(ENVIRONMENT_VARIABLES.apiUrl, 'the URL of the HTTP API'),
  datastore: text(ENVIRONMENT_VARIABLES.datastore, 'the name of a datastore'),
  tailers: wholeNumber(ENVIRONMENT_VARIABLES.tailers, 0, MAX_TAILERS),
  mostShards: wholeNumber(ENVIRONMENT_VARIABLES.mostShards, 1, MAX_SHARDS),
  canSeal: oneOf(ENVIRONMENT_VARIABLES.canSeal, BOOLEANS),
  keepCopies: wholeNumber(ENVIRONMENT_VARIABLES.keepCopies, 0, 604_800),
  backupDays: wholeNumber(ENVIRONMENT_VARIABLES.backupDays, 0, 36_500),
  keysTable: text(ENVIRONMENT_VARIABLES.keysTable, 'the name of a table'),
  rootSecret: text(ENVIRONMENT_VARIABLES.rootSecret, 'the ARN of a secret'),
  keyDays: wholeNumber(ENVIRONMENT_VARIABLES.keyDays, 0, 35),
  exportTo: text(ENVIRONMENT_VARIABLES.exportTo, 's3://bucket/prefix'),
  exportFormat: oneOf(ENVIRONMENT_VARIABLES.exportFormat, FORMATS),
  exportCompression: oneOf(ENVIRONMENT_VARIABLES.exportCompression, COMPRESSIONS),
  exportRead: oneOf(ENVIRONMENT_VARIABLES.exportRead, ROLES),
  s3Endpoint: { ...text('AWS_ENDPOINT_URL_S3', 'a URL'), fallback: '' },
  region: text('AWS_REGION', 'a region of AWS'),
};

/**
 * Reads the variables that a function needs. Throws as `readVariables`. `given`: texts that override the environment's,
 * by variable name.
 */
export function readConfig<K extends keyof Config>(
  keys: readonly K[],
  given?: Readonly<Record<string, string | undefined>>,
): Pick<Config, K> {
  const wanted = Object.fromEntries<unknown>(keys.map((key) => [key, VARIABLES[key]]));
  return readVariables(wanted as Variables<Pick<Config, K>>, given);
}

/** `unknown` without a variable, as in a function tried on its own. */
export function environmentName(): string {
  return readVariables({ environment: { ...VARIABLES.environment, fallback: 'unknown' } }).environment;
}
