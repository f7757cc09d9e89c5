import { NO_ROUTE_WORD } from '../address.ts';

/** The checked content of a deployment's YAML files: plain JSON. */
export interface Definitions {
  readonly datastores: readonly DatastoreDefinition[];
}

export interface DatastoreDefinition {
  readonly name: string;
  /** 1 to 65,536; fixed once the datastore is created. */
  readonly shards: number;
  /** By name; none where there are none. */
  readonly indexes: readonly IndexDefinition[];
  /** By name; none where there are none. */
  readonly triggers: readonly TriggerDefinition[];
  /** One a column at most. @default cells are kept for good */
  readonly retention?: readonly RetentionRule[];
  readonly sealed?: readonly SealedFields[];
}

/** Fields of a column's bodies that are unreadable without the key of a subject: see `sealed/`. */
export interface SealedFields {
  readonly column: string;
  /** The path of the field whose value names the subject, as a person: a string. It is not sealed itself. */
  readonly subject: string;
  /** The paths of the fields, each in one list of the column alone. */
  readonly fields: readonly string[];
}

/** How long the cells of a column are kept: what either bound drops is dropped. One bound at least. */
export interface RetentionRule {
  /** `*`: each column that has no rule of its own. */
  readonly column: string;
  /** So many cells of a row with the highest ref keys: 1 to 1000. */
  readonly keepVersions?: number;
  /** So long from when they were stored: 1000 to 3,153,600,000,000, a hundred years. */
  readonly keepForMs?: number;
}

export const EVERY_COLUMN = '*';
/** The limit of `keepVersions`: each read of a column looks up so many cells. */
export const MOST_KEPT_VERSIONS = 1000;
/** Limit for a datastore: a log read evaluates all of them in one statement, at most 64 KiB on the RDS Data API. */
export const MAX_RETENTION_RULES = 50;

/**
 * The types of index fields: `string` up to 255 bytes, `integer` signed with 64 bits, `number` a double, `datetime` RFC
 * 3339 with its zone, kept as UTC microseconds.
 */
export const FIELD_TYPES = ['UUID', 'string', 'integer', 'number', 'boolean', 'datetime'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** The types of sealed fields, which have a keyed hash there: equality is all that one can be asked for. */
export const HASHED: readonly FieldType[] = ['UUID', 'string'];

export interface IndexField {
  /** Its path within the bodies of its column: `driver_partner_uuid`, `fare.total`. */
  readonly field: string;
  readonly type: FieldType;
  /** The column whose latest cell has it. */
  readonly column_key: string;
  /** Its values are sealed: the index has a keyed hash in place of each. */
  readonly sealed?: true;
}

export interface IndexDefinition {
  /** `table` in the YAML. */
  readonly name: string;
  /** 1 to 16, in the order of the YAML. The first is the shard field: its value says in which shard an entry is. */
  readonly fields: readonly IndexField[];
  /** Keys in addition to one for each field: lists of field names, which the shard field precedes in each. */
  readonly keys: readonly (readonly string[])[];
}

/** A named subscription of a function to the cells of some columns. */
export interface TriggerDefinition {
  readonly name: string;
  /** Cells of other columns are passed over; left out: every column. */
  readonly columns?: readonly string[];
  /** The file of its Lambda handler, from the project's root. Without one, consumers elsewhere read the queue. */
  readonly function?: string;
  /** The position at which it begins in existing logs. */
  readonly start: TriggerStart;
  /** Failures of one cell before it is parked: 1 to 1000. */
  readonly maxAttempts: number;
  /** So many cells parked now stop the trigger: 1 to 10,000. */
  readonly stopAfterParked: number;
  /** How often parked cells are sent again by themselves; left out: never. */
  readonly retryParkedEveryMs?: number;
  /** How long one call of the function may take: 1 to 600. */
  readonly timeoutSeconds: number;
}

/** The start of the logs, their ends, or a time, inclusive. */
export type TriggerStart = 'start' | 'now' | { readonly since: string };

/** Names become parts of MySQL database names (at most 64 characters) and of paths. */
export const DATASTORE_NAME = /^[a-z][a-z0-9_]{0,47}$/u;

/** With an underscore and eight digits behind it, a name is the name of a MySQL table (at most 64 characters). */
export const INDEX_NAME = /* @__PURE__ */ new RegExp(`^${NO_ROUTE_WORD}[a-z][a-z0-9_]{0,54}$`, 'u');

/** With a datastore and a suffix, a name is the name of a queue (at most 80 characters). */
export const TRIGGER_NAME = /* @__PURE__ */ new RegExp(`^${NO_ROUTE_WORD}[a-z][a-z0-9_]{0,47}$`, 'u');

export const MAX_SHARDS = 65_536;
export const MAX_INDEX_FIELDS = 16;
/** Lists of sealed fields of a datastore, and fields of each. */
export const MAX_SEALED = 32;

export function sealedOf(sealed: readonly SealedFields[], column: string): readonly string[] {
  return sealed.flatMap((one) => (one.column === column ? one.fields : []));
}

export function isSealed(sealed: readonly SealedFields[], column: string, field: string): boolean {
  return sealedOf(sealed, column).includes(field);
}

/** `BASE: rider_name` for each field that is sealed, and would not be by another list. */
export function unsealedBy(
  sealed: readonly SealedFields[] = [],
  desired: readonly SealedFields[] = [],
): readonly string[] {
  return sealed.flatMap(({ column, fields }) =>
    fields.filter((field) => !isSealed(desired, column, field)).map((field) => `${column}: ${field}`),
  );
}

export const STAYS_SEALED =
  'sealed values would be shown as they are stored, and values written later would not be sealed';

export function markSealed(index: IndexDefinition, sealed: readonly SealedFields[] = []): IndexDefinition {
  const fields = index.fields.map(({ field, type, column_key }) => ({
    field,
    type,
    column_key,
    ...(isSealed(sealed, column_key, field) && { sealed: true as const }),
  }));
  return { ...index, fields };
}

/** Words of an index's query string that no field may have as its name. */
export const QUERY_WORDS: readonly string[] = [
  'limit',
  'after',
  'fields',
  'column',
  'order',
  'read',
  'explain',
  'row_key',
];
