/** What the YAML files of a deployment say, checked: plain JSON, bundled into every function. */
export interface Definitions {
  /** By name. */
  readonly datastores: readonly DatastoreDefinition[];
}

export interface DatastoreDefinition {
  readonly name: string;
  /** 1 to 65,536; fixed once the datastore is created. */
  readonly shards: number;
  /** By name; none where there are none. */
  readonly indexes: readonly IndexDefinition[];
}

/**
 * What a field of an index holds: `string` up to 255 bytes, `integer` signed with 64 bits, `number` a double,
 * `datetime` RFC 3339 with its zone, kept as UTC microseconds.
 */
export const FIELD_TYPES = ['UUID', 'string', 'integer', 'number', 'boolean', 'datetime'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface IndexField {
  /** Its path within the bodies of its column: `driver_partner_uuid`, `fare.total`. */
  readonly field: string;
  readonly type: FieldType;
  /** The column whose latest cell has it. */
  readonly column_key: string;
}

export interface IndexDefinition {
  /** `table` in the YAML. */
  readonly name: string;
  /** 1 to 16, in the order of the YAML. The first is the shard field: its value says in which shard an entry is. */
  readonly fields: readonly IndexField[];
  /** Keys beside those that each field has: lists of field names, which the shard field precedes in each. */
  readonly keys: readonly (readonly string[])[];
}

/** Names become parts of MySQL database names (at most 64 characters) and of paths. */
export const DATASTORE_NAME = /^[a-z][a-z0-9_]{0,47}$/u;

/** With an underscore and eight digits behind it, a name is the name of a MySQL table (at most 64 characters). */
export const INDEX_NAME = /^[a-z][a-z0-9_]{0,54}$/u;

export const MAX_SHARDS = 65_536;
export const MAX_INDEX_FIELDS = 16;
