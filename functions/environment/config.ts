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

/** Set where the services are not those of AWS. */
const AWS_ENDPOINTS = ['AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL_DYNAMODB'];

/** Variables of the functions; each function gets some. */
const VARIABLES = {
  environment: text(ENVIRONMENT_VARIABLES.environment, 'the name of an environment'),
  topologyTable: text(ENVIRONMENT_VARIABLES.topologyTable, 'the name of a table'),
  stateTable: text(ENVIRONMENT_VARIABLES.stateTable, 'the name of a table'),
  /** The number of secondaries that buffer a write. */
  bufferCopies: wholeNumber(ENVIRONMENT_VARIABLES.bufferCopies, 0, 999),
  access: oneOf(ENVIRONMENT_VARIABLES.access, ACCESSES),
  databaseUser: oneOf(ENVIRONMENT_VARIABLES.databaseUser, DATABASE_USERS),
  databaseAuth: oneOf(ENVIRONMENT_VARIABLES.databaseAuth, DATABASE_AUTHS),
  /** The most connections to each endpoint of each group. */
  connections: wholeNumber(ENVIRONMENT_VARIABLES.connections, 1, 99),
  apiUrl: text(ENVIRONMENT_VARIABLES.apiUrl, 'the URL of the HTTP API'),
  datastore: text(ENVIRONMENT_VARIABLES.datastore, 'the name of a datastore'),
  tailers: wholeNumber(ENVIRONMENT_VARIABLES.tailers, 0, MAX_TAILERS),
  mostShards: wholeNumber(ENVIRONMENT_VARIABLES.mostShards, 1, MAX_SHARDS),
  canSeal: oneOf(ENVIRONMENT_VARIABLES.canSeal, ['true', 'false']),
  /** The seconds for which drained copies stay. */
  keepCopies: wholeNumber(ENVIRONMENT_VARIABLES.keepCopies, 0, 604_800),
  backupDays: wholeNumber(ENVIRONMENT_VARIABLES.backupDays, 0, 36_500),
  keysTable: text(ENVIRONMENT_VARIABLES.keysTable, 'the name of a table'),
  rootSecret: text(ENVIRONMENT_VARIABLES.rootSecret, 'the ARN of a secret'),
  keyDays: wholeNumber(ENVIRONMENT_VARIABLES.keyDays, 0, 35),
  exportTo: text(ENVIRONMENT_VARIABLES.exportTo, 's3://bucket/prefix'),
  exportFormat: oneOf(ENVIRONMENT_VARIABLES.exportFormat, ['ndjson', 'parquet']),
  exportCompression: oneOf(ENVIRONMENT_VARIABLES.exportCompression, ['gzip', 'zstd', 'none']),
  exportRead: oneOf(ENVIRONMENT_VARIABLES.exportRead, ['writer', 'reader']),
  /** Empty for AWS's endpoint. */
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

/** Returns this function's variables that a consumer in another process needs too; never its credentials. */
export function consumerEnvironment(): Readonly<Record<string, string>> {
  const { environment, topologyTable, stateTable } = ENVIRONMENT_VARIABLES;
  const names = [environment, topologyTable, stateTable, 'AWS_REGION', ...AWS_ENDPOINTS];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Returns `unknown` without a variable, as in a function that runs outside a deployment. */
export function environmentName(): string {
  return readVariables({ environment: { ...VARIABLES.environment, fallback: 'unknown' } }).environment;
}
