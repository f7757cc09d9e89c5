import type { Json } from '../cell.ts';
import type { IndexDefinition } from '../definitions/definitions.ts';
import { keyOfValue, readField, type FieldValue } from './field-value.ts';

/** The place in a row's log at which an entry was computed. Later places win; epochs count first. */
export interface Version {
  readonly epoch: number;
  readonly added_id: number;
}

/** What an index should hold of one row. */
export interface RowEntries {
  /** Its values in the order of the fields, or undefined where the row has no entry. */
  readonly values: readonly FieldValue[] | undefined;
  /** Former values of the shard field, each to be a tombstone. */
  readonly former: readonly Exclude<FieldValue, null>[];
  /** Places of the fields that the latest cells have, but of another type; each counts as null. */
  readonly mistyped: readonly number[];
}

/** Makes an index's entries of a row from its bodies, given one after another: what is no field of the index is not kept. */
export interface GatheredEntries {
  /**
   * @param body of a cell of this column; undefined: erased or damaged
   * @param isLatest whether it is the column's latest cell; of earlier ones the shard field is taken
   */
  take(column: string, body: Json | undefined, isLatest: boolean): void;
  entries(): RowEntries;
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
export function gatherEntries({ fields }: IndexDefinition): GatheredEntries {
  const [shardField] = fields;
  const values = fields.map((): FieldValue => null);
  const mistyped: number[] = [];
  const former = new Map<string, Exclude<FieldValue, null>>();

  return {
    take(column, body, isLatest) {
      if (!isLatest) {
        const value = shardField?.column_key === column ? (readField(body, shardField.field, shardField.type) ?? null) : null;
        if (value !== null) former.set(keyOfValue(value), value);
        return;
      }
      for (const [place, { field, type, column_key }] of fields.entries()) {
        if (column_key !== column) continue;
        const value = readField(body, field, type);
        if (value === undefined) mistyped.push(place);
        values[place] = value ?? null;
      }
    },
    entries() {
      const current = values[0] ?? null;
      const others = current === null ? [...former.values()] : [...former].flatMap(([key, value]) => (key === keyOfValue(current) ? [] : [value]));
      return { values: current === null ? undefined : values, former: others, mistyped };
    },
  };
}

/** The entries of a row whose latest bodies are all in hand, by column. */
export function entriesOf(definition: IndexDefinition, latest: ReadonlyMap<string, Json | undefined>): RowEntries {
  const gathered = gatherEntries(definition);
  for (const [column, body] of latest) gathered.take(column, body, true);
  return gathered.entries();
}
