import {
  ACCESSES,
  CONSUMER_VARIABLES,
  DATABASE_AUTHS,
  ENVIRONMENT_VARIABLES,
  type ConsumerVariable,
  type StoreVariable,
} from '../../shared/environment.ts';
import { MAX_SHARDS } from '../../shared/definitions/definitions.ts';
import { DATABASE_USERS } from '../../shared/topology/database-users.ts';
import { MAX_TAILERS } from '../../shared/triggers/send/tailer-count.ts';
import { oneOf, readVariables, text, wholeNumber, type Variable, type Variables } from './variables.ts';

export type StoreConfig = Pick<Config, StoreVariable>;
export type ConsumerConfig = Pick<Config, ConsumerVariable | 'region'>;
export const CONSUMER_KEYS = [...CONSUMER_VARIABLES, 'region'] as const;

/** Variables of the functions; each function gets some. */
const VARIABLES = {
  environment: text(ENVIRONMENT_VARIABLES.environment, 'the name of an environment'),
  topologyTable: text(ENVIRONMENT_VARIABLES.topologyTable, 'the name of a table'),
  stateTable: text(ENVIRONMENT_VARIABLES.stateTable, 'the name of a table'),
  /** Secondaries that buffer a write. */
  bufferCopies: wholeNumber(ENVIRONMENT_VARIABLES.bufferCopies, 0, 999),
  access: oneOf(ENVIRONMENT_VARIABLES.access, ACCESSES),
  databaseUser: oneOf(ENVIRONMENT_VARIABLES.databaseUser, DATABASE_USERS),
  databaseAuth: oneOf(ENVIRONMENT_VARIABLES.databaseAuth, DATABASE_AUTHS),
  /** Most connections to each endpoint of each group. */
  connections: wholeNumber(ENVIRONMENT_VARIABLES.connections, 1, 99),
  apiUrl: text(ENVIRONMENT_VARIABLES.apiUrl, 'the URL of the HTTP API'),
  datastore: text(ENVIRONMENT_VARIABLES.datastore, 'the name of a datastore'),
  tailers: wholeNumber(ENVIRONMENT_VARIABLES.tailers, 0, MAX_TAILERS),
  mostShards: wholeNumber(ENVIRONMENT_VARIABLES.mostShards, 1, MAX_SHARDS),
  canSeal: oneOf(ENVIRONMENT_VARIABLES.canSeal, ['true', 'false']),
  /** Seconds that drained copies stay. */
  keepCopies: wholeNumber(ENVIRONMENT_VARIABLES.keepCopies, 0, 604_800),
  backupDays: wholeNumber(ENVIRONMENT_VARIABLES.backupDays, 0, 36_500),
  keysTable: text(ENVIRONMENT_VARIABLES.keysTable, 'the name of a table'),
  rootSecret: text(ENVIRONMENT_VARIABLES.rootSecret, 'the ARN of a secret'),
  keyDays: wholeNumber(ENVIRONMENT_VARIABLES.keyDays, 0, 35),
  exportTo: text(ENVIRONMENT_VARIABLES.exportTo, 's3://bucket/prefix'),
  exportFormat: oneOf(ENVIRONMENT_VARIABLES.exportFormat, ['ndjson', 'parquet']),
  exportCompression: oneOf(ENVIRONMENT_VARIABLES.exportCompression, ['gzip', 'zstd', 'none']),
  exportRead: oneOf(ENVIRONMENT_VARIABLES.exportRead, ['writer', 'reader']),
  /** Empty for AWS's own. */
  s3Endpoint: { ...text('AWS_ENDPOINT_URL_S3', 'a URL'), fallback: '' },
  region: text('AWS_REGION', 'a region of AWS'),
} as const satisfies Readonly<Record<string, Variable<unknown>>>;

export type Config = {
  readonly [Key in keyof typeof VARIABLES]: NonNullable<ReturnType<(typeof VARIABLES)[Key]['parse']>>;
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
