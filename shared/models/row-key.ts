import type { Json } from '../cell.ts';
import type { FieldType } from '../definitions/definitions.ts';
import { toFieldValue, WANTED_VALUE, type FieldValue } from '../definitions/field-value.ts';
import { invalidField, missingField } from '../errors.ts';
import { uuidV5 } from '../uuid-v5.ts';

/** The namespace of all row keys of models: never change it. */
export const MODEL_NAMESPACE = '6dfe278f-19db-4d06-a86d-958590767d7b';

/**
 * Returns the row key of a record: the UUIDv5 (RFC 9562), in `MODEL_NAMESPACE`, of the text
 *
 *     ["rate",["check_in_date","2017-01-03"],["hotel_id",1],["room_type","1 bed"]]
 *
 * which is the JSON, without white space, of the model's name and of each field with its value, in the order of their
 * UTF-16 code units. Values are those of the index: UUIDs in lower case, times in UTC with six decimals, numbers as
 * JavaScript writes them, integers as their digits. Throws SchemalessError `missing_field`, `invalid_field`.
 */
export function rowKeyOfTuple(
  model: string,
  fields: Readonly<Record<string, FieldType>>,
  values: { readonly [field: string]: unknown },
): string {
  const pairs = Object.keys(fields)
    .sort()
    .map((field) => `[${JSON.stringify(field)},${written(valueOfField(field, fields[field] ?? 'string', values))}]`);
  return uuidV5(MODEL_NAMESPACE, `[${[JSON.stringify(model), ...pairs].join(',')}]`);
}

/** Returns a field's value in the form of its index. Throws `missing_field`, `invalid_field`. */
export function valueOfField(
  field: string,
  type: FieldType,
  values: { readonly [field: string]: unknown },
): Exclude<FieldValue, null> {
  const value = Object.hasOwn(values, field) ? values[field] : undefined;
  if (value === undefined || value === null)
    throw missingField(field, `${WANTED_VALUE[type]}: every index field has a value`);
  const typed = toFieldValue(value as Json, type);
  if (typed === undefined || typed === null || (typeof typed === 'number' && !Number.isFinite(typed)))
    throw invalidField(field, WANTED_VALUE[type], value);
  return typed;
}

function written(value: Exclude<FieldValue, null>): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
