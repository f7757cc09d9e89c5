/**
 * The environment variables of the functions, by what they are in code. Few and short: all of a function may hold 4 KB.
 */
export const ENVIRONMENT_VARIABLES = {
  /** Which environment this is, such as `prod`. */
  environment: 'SCHEMALESS_ENVIRONMENT',
  /** Name of the DynamoDB table that says which group holds which shard. */
  topologyTable: 'SCHEMALESS_TOPOLOGY_TABLE',
  /** Name of the DynamoDB table of leases and offsets. */
  stateTable: 'SCHEMALESS_STATE_TABLE',
  /** On how many secondaries a write is buffered before its primary is tried, a whole number from 0. */
  bufferCopies: 'SCHEMALESS_BUFFER_COPIES',
  /** How MySQL is reached: `mysql` or `data-api`. */
  access: 'SCHEMALESS_ACCESS',
  /** Which user of the databases the function is: see `DATABASE_USERS`. */
  databaseUser: 'SCHEMALESS_DATABASE_USER',
  /** How it proves that: `secret` or `iam`. */
  databaseAuth: 'SCHEMALESS_DATABASE_AUTH',
  /** Connections that an instance opens to each endpoint of each group at most, a whole number from 1. */
  connections: 'SCHEMALESS_CONNECTIONS',
  /** Of a trigger's function: where the HTTP API is. */
  apiUrl: 'SCHEMALESS_API_URL',
  /** Of a trigger's function: the datastore whose cells call it. */
  datastore: 'SCHEMALESS_DATASTORE',
  /** Of `tail-shards`: how many workers there are to be, unless the state table says otherwise. */
  tailers: 'SCHEMALESS_TAILERS',
  /** Of `define-datastores`: the most shards that a datastore made through the API gets, a whole number from 1. */
  mostShards: 'SCHEMALESS_MOST_SHARDS',
  /** Of `define-datastores`: whether the environment has a root key, `true` or `false`. */
  canSeal: 'SCHEMALESS_CAN_SEAL',
  /** Of `drain-buffer`: seconds that copies are kept after they were drained, a whole number from 0. */
  keepCopies: 'SCHEMALESS_KEEP_COPIES',
  /** Of `erase-cells` and `maintenance`: days that backups are kept at most, a whole number; 0 where there are none. */
  backupDays: 'SCHEMALESS_BACKUP_DAYS',
  /** Name of the DynamoDB table of keys: of whoever seals, opens, hashes or signs. */
  keysTable: 'SCHEMALESS_KEYS_TABLE',
  /** ARN of the secret of the root key, above those of the table; `none` where there is no way to it. */
  rootSecret: 'SCHEMALESS_ROOT_SECRET',
  /** Of `erase-cells`: days that the table of keys can be set back, a whole number; 0 where it cannot. */
  keyDays: 'SCHEMALESS_KEY_DAYS',
  /** Of `export-cells`: where the files go, `s3://bucket/prefix`. */
  exportTo: 'SCHEMALESS_EXPORT_TO',
  /** Of `export-cells`: `ndjson` or `parquet`. */
  exportFormat: 'SCHEMALESS_EXPORT_FORMAT',
  /** Of `export-cells`: how NDJSON is packed, `gzip`, `zstd` or `none`. */
  exportCompression: 'SCHEMALESS_EXPORT_COMPRESSION',
  /** Of `export-cells`: of whom the logs are read, `writer` or `reader`. */
  exportRead: 'SCHEMALESS_EXPORT_READ',
} as const;

type VariableKey = keyof typeof ENVIRONMENT_VARIABLES;

/** What every function that reaches the store reads. */
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

/** In the place of the ARN. */
export const NO_ROOT_KEY = 'none';

/** What functions read besides that have to do with sealed fields. */
export const KEY_VARIABLES = ['keysTable', 'rootSecret'] as const satisfies readonly VariableKey[];
export type KeyVariable = (typeof KEY_VARIABLES)[number];

/** What the function of a trigger reads. */
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

/** The environment of a function, by the names of variables: all that it reads (`ConsumerVariable`), and no others. */
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
