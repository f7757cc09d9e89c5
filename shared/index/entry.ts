import type { Json } from '../cell.ts';
import type { IndexDefinition } from '../definitions/definitions.ts';
import { keyOfValue, readField, type FieldValue } from './field-value.ts';

/** The place in a row's log at which an entry was computed. Later places win; epochs count first. */
export interface Version {
  readonly epoch: number;
  readonly added_id: number;
}

/** What the writer of a row's group shows of it, in one snapshot. */
export interface RowState {
  readonly row_key: string;
  readonly version: Version;
  /** By column: its cells' bodies, the latest first; as many as were asked for. Undefined: erased or damaged. */
  readonly bodies: ReadonlyMap<string, readonly (Json | undefined)[]>;
}

/** What an index should hold of one row. */
export interface RowEntries {
  /** Its values in the order of the fields, or undefined where the row has no entry. */
  readonly values: readonly FieldValue[] | undefined;
  /** Former values of the shard field, each to be a tombstone. */
  readonly former: readonly Exclude<FieldValue, null>[];
  /** Fields that are there but of another type; each counts as null. */
  readonly mistyped: readonly string[];
}

/** The columns that an index reads, the shard field's first. */
export function columnsOf({ fields }: IndexDefinition): string[] {
  return [...new Set(fields.map(({ column_key }) => column_key))];
}

/**
 * The entries of a row: one where its latest cells have the shard field, with the chosen fields of the latest cell of
 * each column. Missing, null and mistyped fields are null; a column that is not written yet, and a body that is no
 * object, have none of them.
 */
export function entriesOf(definition: IndexDefinition, state: RowState): RowEntries {
  const mistyped: string[] = [];
  const values = definition.fields.map(({ field, type, column_key }): FieldValue => {
    const value = readField(state.bodies.get(column_key)?.[0], field, type);
    if (value === undefined) mistyped.push(field);
    return value ?? null;
  });
  const [shardField] = definition.fields;
  const current = values[0] ?? null;
  const former = new Map<string, Exclude<FieldValue, null>>();
  if (shardField) {
    for (const body of state.bodies.get(shardField.column_key)?.slice(1) ?? []) {
      const value = readField(body, shardField.field, shardField.type) ?? null;
      if (value !== null && (current === null || keyOfValue(value) !== keyOfValue(current))) former.set(keyOfValue(value), value);
    }
  }
  return { values: current === null ? undefined : values, former: [...former.values()], mistyped };
}
