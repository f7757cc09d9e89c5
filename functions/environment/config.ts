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

/** What the environment of a function may say; each function is given some of it. */
export interface Config {
  /** Such as `prod`. */
  readonly environment: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  /** On how many secondaries a write is buffered before its primary is tried: 0 to 999. */
  readonly bufferCopies: number;
  readonly access: Access;
  /** What the function may do in MySQL. */
  readonly databaseUser: DatabaseUser;
  readonly databaseAuth: DatabaseAuth;
  /** Connections to each endpoint of each group, at most: 1 to 99. */
  readonly connections: number;
  readonly apiUrl: string;
  /** The datastore whose cells call the function. */
  readonly datastore: string;
  /** How many workers of `tail-shards` the environment wishes for: 0 to 64. */
  readonly tailers: number;
  /** The most shards that a datastore made through the API gets: 1 to 65,536. */
  readonly mostShards: number;
  /** Whether the environment has a root key. */
  readonly canSeal: (typeof BOOLEANS)[number];
  /** Seconds that copies are kept after they were drained: 0 to 604,800, a week. */
  readonly keepCopies: number;
  /** Days that backups are kept at most: 0 to 36,500. */
  readonly backupDays: number;
  readonly keysTable: string;
  readonly rootSecret: string;
  /** Days that the table of keys can be set back: 0 to 35. */
  readonly keyDays: number;
  /** Where an export goes: `s3://bucket/prefix`. */
  readonly exportTo: string;
  readonly exportFormat: (typeof FORMATS)[number];
  readonly exportCompression: (typeof COMPRESSIONS)[number];
  readonly exportRead: (typeof ROLES)[number];
  /** Where S3 is, if it is not that of AWS; else empty. */
  readonly s3Endpoint: string;
  /** Where the API is, for the signature; Lambda says it. */
  readonly region: string;
}

const BOOLEANS = ['true', 'false'] as const;
const FORMATS = ['ndjson', 'parquet'] as const;
const COMPRESSIONS = ['gzip', 'zstd', 'none'] as const;
const ROLES = ['writer', 'reader'] as const;

export type StoreConfig = Pick<Config, StoreVariable>;
/** Of a trigger's function. */
export type ConsumerConfig = Pick<Config, ConsumerVariable | 'region'>;
/** What a trigger's function reads. */
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
 * Reads of the environment what a function needs, and asks for nothing else.
 *
 * @param given texts that hold in place of the environment's, by the names of their variables
 * @throws as `readVariables`
 */
export function readConfig<K extends keyof Config>(
  keys: readonly K[],
  given?: Readonly<Record<string, string | undefined>>,
): Pick<Config, K> {
  const wanted = Object.fromEntries<unknown>(keys.map((key) => [key, VARIABLES[key]]));
  return readVariables(wanted as Variables<Pick<Config, K>>, given);
}

/** Which environment this is; `unknown` where nothing says it, as in a function tried by itself. */
export function environmentName(): string {
  return readVariables({ environment: { ...VARIABLES.environment, fallback: 'unknown' } }).environment;
}
