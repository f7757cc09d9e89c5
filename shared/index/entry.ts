import type { Json } from '../cell.ts';
import type { IndexDefinition, IndexField } from '../definitions/definitions.ts';
import { keyOfValue, readField, type FieldValue } from '../definitions/field-value.ts';

/** The place in a row's log at which an entry was computed. Later places win; epochs count first. */
export interface Version {
  readonly epoch: number;
  readonly added_id: number;
}

export interface RowEntries {
  readonly values: readonly FieldValue[] | undefined;
  /** Former values of the shard field, each to be a tombstone. */
  readonly former: readonly Exclude<FieldValue, null>[];
  /** Positions of fields whose latest values have another type; each counts as null. */
  readonly mistyped: readonly number[];
}

export function columnsOf(definition: IndexDefinition): readonly string[] {
  let columns = knownColumns.get(definition);
  if (!columns) knownColumns.set(definition, (columns = [...new Set(definition.fields.map((one) => one.column_key))]));
  return columns;
}

const knownColumns = new WeakMap<IndexDefinition, readonly string[]>();

/** A row's entries while its bodies are given one by one; only indexed fields are kept. */
export interface GatheredEntries {
  readonly values: FieldValue[];
  readonly mistyped: number[];
  /** By key; few rows have any. */
  former: Map<string, Exclude<FieldValue, null>> | undefined;
}

export function gatherEntries({ fields }: IndexDefinition): GatheredEntries {
  return { values: fields.map(() => null), mistyped: [], former: undefined };
}

/** Takes the latest cell of a column; `body` is undefined if erased or damaged. */
export function takeLatest(
  { values, mistyped }: GatheredEntries,
  { fields }: IndexDefinition,
  column: string,
  body: Json | undefined,
): void {
  for (let position = 0; position < fields.length; position += 1) {
    const { field, type, column_key, sealed } = fields[position] as IndexField;
    if (column_key !== column) continue;
    const value = readField(body, field, type, sealed);
    if (value === undefined) mistyped.push(position);
    else values[position] = value;
  }
}

export function takeEarlier(
  gathered: GatheredEntries,
  { fields: [shardField] }: IndexDefinition,
  column: string,
  body: Json | undefined,
): void {
  if (shardField?.column_key !== column) return;
  const value = readField(body, shardField.field, shardField.type, shardField.sealed) ?? null;
  if (value !== null) (gathered.former ??= new Map()).set(keyOfValue(value), value);
}

const NO_VALUES: RowEntries['former'] = [];

/** Returns a row's entries: one if its latest cells have the shard field. Unusable fields are null. */
export function toEntries({ values, mistyped, former }: GatheredEntries): RowEntries {
  const current = values[0] ?? null;
  if (former && current !== null) former.delete(keyOfValue(current));
  return { values: current === null ? undefined : values, former: former ? [...former.values()] : NO_VALUES, mistyped };
}

export function entriesOf(definition: IndexDefinition, latest: ReadonlyMap<string, Json | undefined>): RowEntries {
  const gathered = gatherEntries(definition);
  for (const [column, body] of latest) takeLatest(gathered, definition, column, body);
  return toEntries(gathered);
}
