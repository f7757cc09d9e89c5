/**
 * The environment variables of the functions, by their names in code. Few and short: a function's may hold 4 KB in all.
 */
export const ENVIRONMENT_VARIABLES = {
  /** Name of the environment, such as `prod`. */
  environment: 'SCHEMALESS_ENVIRONMENT',
  /** Name of the DynamoDB table that maps shards to groups. */
  topologyTable: 'SCHEMALESS_TOPOLOGY_TABLE',
  /** Name of the DynamoDB table of leases and offsets. */
  stateTable: 'SCHEMALESS_STATE_TABLE',
  /** On how many secondaries a write is buffered before its primary is tried, a whole number from 0. */
  bufferCopies: 'SCHEMALESS_BUFFER_COPIES',
  /** How MySQL is reached: `mysql` or `data-api`. */
  access: 'SCHEMALESS_ACCESS',
  /** The function's database user: see `DATABASE_USERS`. */
  databaseUser: 'SCHEMALESS_DATABASE_USER',
  /** How that user logs in: `secret` or `iam`. */
  databaseAuth: 'SCHEMALESS_DATABASE_AUTH',
  /** Connections that an instance opens to each endpoint of each group at most, a whole number from 1. */
  connections: 'SCHEMALESS_CONNECTIONS',
  /** Of a trigger's function: the URL of the HTTP API. */
  apiUrl: 'SCHEMALESS_API_URL',
  /** Of a trigger's function: the datastore whose cells call it. */
  datastore: 'SCHEMALESS_DATASTORE',
  /** Of `tail-shards`: the number of workers, unless the state table overrides it. */
  tailers: 'SCHEMALESS_TAILERS',
  /** Of `define-datastores`: the most shards that a datastore made through the API gets, a whole number from 1. */
  mostShards: 'SCHEMALESS_MOST_SHARDS',
  /** Of `define-datastores`: whether the environment has a root key, `true` or `false`. */
  canSeal: 'SCHEMALESS_CAN_SEAL',
  /** Of `drain-buffer`: seconds to keep hints after they were drained, a whole number from 0. */
  keepCopies: 'SCHEMALESS_KEEP_COPIES',
  /** Of `erase-cells` and `maintenance`: days that backups are kept at most, a whole number; 0 if there are none. */
  backupDays: 'SCHEMALESS_BACKUP_DAYS',
  /** Name of the DynamoDB table of keys, for functions that seal, open, hash or sign. */
  keysTable: 'SCHEMALESS_KEYS_TABLE',
  /** ARN of the secret of the root key, above those of the table; `none` if the function cannot reach it. */
  rootSecret: 'SCHEMALESS_ROOT_SECRET',
  /** Of `erase-cells`: days for which the table of keys can be restored, a whole number; 0 if it cannot. */
  keyDays: 'SCHEMALESS_KEY_DAYS',
  /** Of `export-cells`: the destination of the files, `s3://bucket/prefix`. */
  exportTo: 'SCHEMALESS_EXPORT_TO',
  /** Of `export-cells`: `ndjson` or `parquet`. */
  exportFormat: 'SCHEMALESS_EXPORT_FORMAT',
  /** Of `export-cells`: how NDJSON is packed, `gzip`, `zstd` or `none`. */
  exportCompression: 'SCHEMALESS_EXPORT_COMPRESSION',
  /** Of `export-cells`: the node that serves the logs, `writer` or `reader`. */
  exportRead: 'SCHEMALESS_EXPORT_READ',
} as const;

type VariableKey = keyof typeof ENVIRONMENT_VARIABLES;

/** The variables of every function that reaches the store. */
export const STORE_VARIABLES = [
  'environment',
  'topologyTable',
  'stateTable',
  'bufferCopies',
  'access',
  'databaseUser',
  'databaseAuth',
  'connections',
] as const satisfies readonly VariableKey[];
export type StoreVariable = (typeof STORE_VARIABLES)[number];

/** The value instead of the ARN. */
export const NO_ROOT_KEY = 'none';

/** Further variables of functions that handle sealed fields. */
export const KEY_VARIABLES = ['keysTable', 'rootSecret'] as const satisfies readonly VariableKey[];
export type KeyVariable = (typeof KEY_VARIABLES)[number];

/** The variables of a trigger's function. */
export const CONSUMER_VARIABLES = [
  'environment',
  'topologyTable',
  'stateTable',
  'apiUrl',
  'datastore',
] as const satisfies readonly VariableKey[];
export type ConsumerVariable = (typeof CONSUMER_VARIABLES)[number];

export const EXPORT_VARIABLES = [
  'environment',
  'stateTable',
  'apiUrl',
  'datastore',
  'exportTo',
  'exportFormat',
  'exportCompression',
  'exportRead',
] as const satisfies readonly VariableKey[];
export type ExportVariable = (typeof EXPORT_VARIABLES)[number];

/** Returns a function's environment by variable name: all that it reads (`ConsumerVariable`), and no others. */
export function environmentOf<K extends VariableKey>(
  values: Readonly<Record<K, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries((Object.keys(values) as K[]).map((key) => [ENVIRONMENT_VARIABLES[key], values[key]]));
}

/** How MySQL is reached; see the adapters in `shared/sql`. */
export const ACCESSES = ['mysql', 'data-api'] as const;
export type Access = (typeof ACCESSES)[number];

/** How functions log in to MySQL: with a password from a secret, or with a token that IAM vouches for. */
export const DATABASE_AUTHS = ['secret', 'iam'] as const;
export type DatabaseAuth = (typeof DATABASE_AUTHS)[number];
