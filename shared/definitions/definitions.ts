/** What the YAML files of a deployment say, checked: plain JSON, bundled into every function. */
export interface Definitions {
  /** By name. */
  readonly datastores: readonly DatastoreDefinition[];
}

export interface DatastoreDefinition {
  readonly name: string;
  /** 1 to 65,536; fixed once the datastore is created. */
  readonly shards: number;
}

/** Names become parts of MySQL database names (at most 64 characters) and of paths. */
export const DATASTORE_NAME = /^[a-z][a-z0-9_]{0,47}$/u;

export const MAX_SHARDS = 65_536;
