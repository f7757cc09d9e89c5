import { QUERY_WORDS } from '../definitions/definitions.ts';
import { describe, invalidField, SchemalessError, wrongField } from '../errors.ts';
import type { Condition, Operator } from '../api/condition.ts';

/** Writes conditions as parameters: `city`, `riders[gte]`, `city[in]`. Throws `unknown_field`, `invalid_field`. */
export function toParameters(where: readonly Condition[]): Readonly<Record<string, readonly string[]>> {
  const parameters = new Map<string, readonly string[]>();
  for (const { field, operator, values } of where) {
    if (QUERY_WORDS.includes(field) || !/^[^[\]]+$/.test(field)) throw notKnown(field);
    const name = operator === 'eq' ? field : `${field}[${operator}]`;
    if (values.length === 0)
      throw invalidField(name, operator === 'in' ? 'at least one value' : 'one value', 'no values');
    if (parameters.has(name)) throw invalidField(name, 'one condition', 'two');
    parameters.set(
      name,
      values.map((value) => toText(value, name)),
    );
  }
  return Object.fromEntries(parameters);
}

function notKnown(field: string): SchemalessError {
  const wanted = 'the name of a field of the index';
  const details = { field, wanted, got: field };
  return new SchemalessError('unknown_field', `${field} is not known here: wanted ${wanted}`, details);
}

function toText(value: unknown, field: string): string {
  const keeps =
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.isWellFormed());
  if (!keeps) throw invalidField(field, 'Unicode text, a finite number, a bigint or a boolean', value);
  return String(value);
}

/** `{ city: 'Lisbon', fare: { gte: 10 } }` as the API takes it. */
export function toConditions(where: Readonly<Record<string, unknown>>): readonly Condition[] {
  return Object.entries(where).flatMap(([field, wanted]): readonly Condition[] => {
    if (wanted === undefined) return [];
    if (typeof wanted !== 'object' || wanted === null) return [{ field, operator: 'eq', values: [wanted] }];
    return Object.entries(wanted).flatMap(([operator, value]) =>
      value === undefined
        ? []
        : [{ field, operator: operator as Operator, values: Array.isArray(value) ? value : [value] }],
    );
  });
}

/** The name of an index or a trigger, as part of a path: any other would ask for another path. Throws `unknown_…`. */
export function pathName(kind: 'index' | 'trigger', pattern: RegExp, name: string): string {
  if (pattern.test(name)) return name;
  throw wrongField(kind, 'the name of one', describe(name), `unknown_${kind}`);
}
