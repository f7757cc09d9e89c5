import { QUERY_WORDS } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import { shape, type Shape } from './shape.ts';

export type Operator = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in';

/** A condition as a client gives it. Texts are read as the field's type, so that a query string needs no types. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  /** One value; for `in` 1 to 100. */
  readonly values: readonly unknown[];
}

export const OPERATORS: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
/** In brackets behind the field; equality has none. */
const BRACKETED = OPERATORS.filter((operator) => operator !== 'eq');
const WANTED = `a field, alone for equality or with one of ${BRACKETED.map((operator) => `[${operator}]`).join(' ')} behind it`;

/** The conditions of a query: all parameters but those that mean something else. */
export interface Conditions extends Shape<readonly Condition[]> {
  readonly description: string;
  readonly example: { readonly [name: string]: string | readonly string[] };
}

const TEXTS = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } as const;

export const CONDITIONS: Conditions = {
  ...shape<readonly Condition[]>({ type: 'object', additionalProperties: TEXTS }),
  description:
    'Each its own parameter, all to be met: `FIELD=value`, or `FIELD[ne]`, `[lt]`, `[lte]`, `[gt]`, `[gte]` with one value, or `FIELD[in]`, repeated. ' +
    'The shard field, by equality, has to be among them. An absent field meets none, `[ne]` included.',
  example: {
    driver_partner_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10',
    'city[in]': ['Lisbon', 'Porto'],
    'fare.total[gte]': '1000',
  },
};

/**
 * Reads conditions: `city=Lisbon`, `riders[gte]=2`, `city[in]=Lisbon&city[in]=Porto`; names and values decoded. Throws
 * SchemalessError `invalid_field` for a name that is no condition, and for a second value where one is taken.
 */
export function readConditions(parameters: ReadonlyMap<string, readonly string[]>): readonly Condition[] {
  return [...parameters].map(([name, values]) => {
    const { field, operator } = readName(name);
    if (operator !== 'in' && values.length > 1)
      throw invalidField(name, 'one value', values.slice(0, 2).join(', then '));
    return { field, operator, values };
  });
}

function readName(name: string): Pick<Condition, 'field' | 'operator'> {
  const [, field = '', bracketed] = /^([^[\]]+)(?:\[(\w*)\])?$/.exec(name) ?? [];
  const operator = bracketed === undefined ? 'eq' : BRACKETED.find((known) => known === bracketed);
  if (field === '' || operator === undefined) throw invalidField(name, WANTED, name);
  if (operator !== 'eq' && QUERY_WORDS.includes(field))
    throw invalidField(name, `${field} without an operator: it is no field`, name);
  return { field, operator };
}
