import { invalidField, unknownField } from './errors.ts';

export type Operator = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in';

/** A value that a field equals, or comparisons that all hold. */
export type FieldCondition<Value> =
  | Value
  | ({ readonly [Name in Exclude<Operator, 'in'>]?: Value } & {
      /** 1 to 100. */
      readonly in?: readonly Value[];
    });

type Scalar = string | number | bigint | boolean;

/**
 * Conditions by field, all of which must hold. Texts are read as the field's type, so that a query string needs no
 * types. A Date is its ISO text, also for a field of texts.
 */
export type Where = Readonly<Record<string, FieldCondition<Scalar | Date>>>;

/** A condition of `Where`, whose shape is checked. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  /** One value; for `in` 1 to 100. */
  readonly values: readonly Scalar[];
}

export const OPERATORS: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const SCALAR = 'Unicode text, a finite number, a bigint, a boolean or a Date';
const MOST_VALUES = 100;

/** Returns the parameter of a condition: `city`, `riders[gte]`. */
export function parameterOf({ field, operator }: Pick<Condition, 'field' | 'operator'>): string {
  return operator === 'eq' ? field : `${field}[${operator}]`;
}

/**
 * Returns conditions one by one. Refuses all that is not a condition: one that were dropped would let a query answer
 * too much. Throws SchemalessError `invalid_field`, `unknown_field` (an operator).
 */
export function conditionsOf(where: Where): readonly Condition[] {
  return membersOf(where, 'where', 'an object of conditions, like { city: "Lisbon" }').flatMap(([field, given]) => {
    if (!isObject(given)) return [{ field, operator: 'eq' as const, values: [scalarOf(given, field)] }];
    const members = membersOf(given, field, `${SCALAR}, or operators, like { gte: 10 }`);
    if (members.length === 0) throw invalidField(field, `one of ${OPERATORS.join(', ')}`, 'an empty object');
    return members.map(([name, value]): Condition => {
      const operator = OPERATORS.find((known) => known === name);
      if (operator === undefined) throw unknownField(`${field}.${name}`, OPERATORS);
      const parameter = parameterOf({ field, operator });
      return { field, operator, values: operator === 'in' ? valuesOf(value, parameter) : [scalarOf(value, parameter)] };
    });
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/** Returns the members of a plain object, of any realm. Others may hide theirs, as a Map does. */
function membersOf(value: unknown, field: string, wanted: string): readonly (readonly [string, unknown])[] {
  const prototype: unknown = isObject(value) ? Object.getPrototypeOf(value) : undefined;
  const isPlain = prototype === null || (isObject(prototype) && Object.hasOwn(prototype, 'hasOwnProperty'));
  if (!isObject(value) || !isPlain) throw invalidField(field, wanted, value);
  const members = Object.entries(value);
  if (Reflect.ownKeys(value).length === members.length) return members;
  throw invalidField(field, 'members that are enumerable and named by text', 'others');
}

function valuesOf(values: unknown, field: string): readonly Scalar[] {
  if (!Array.isArray(values)) throw invalidField(field, `an array of 1 to ${MOST_VALUES} values`, values);
  if (values.length < 1 || values.length > MOST_VALUES)
    throw invalidField(field, `1 to ${MOST_VALUES} values`, `${values.length} values`);
  // A hole of the array is a missing value, which `map` would leave out.
  return Array.from({ length: values.length }, (_, position) => scalarOf(values[position], field));
}

function scalarOf(value: unknown, field: string): Scalar {
  switch (typeof value) {
    case 'bigint':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      break;
    case 'string':
      if (value.isWellFormed()) return value;
      break;
    case 'undefined':
      throw invalidField(field, `${SCALAR}, or no member of this name`, value);
    default:
      if (value instanceof Date) {
        if (!Number.isNaN(value.getTime())) return value.toISOString();
        throw invalidField(field, SCALAR, 'Invalid Date');
      }
  }
  throw invalidField(field, SCALAR, value);
}
