import { QUERY_WORDS } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import { OPERATORS, type Condition, type Where } from '../where.ts';
import { shape, type Shape } from './shape.ts';

/** In brackets behind the field; equality has none. */
const BRACKETED = OPERATORS.filter((operator) => operator !== 'eq');
const WANTED = `a field, alone for equality or with one of ${BRACKETED.map((operator) => `[${operator}]`).join(' ')} behind it`;

/** The conditions of a query: all parameters but those that mean something else. */
export interface Conditions extends Shape<Where> {
  readonly description: string;
  readonly example: { readonly [name: string]: string | readonly string[] };
  readonly isRequired?: true;
}

const TEXTS = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } as const;

export const CONDITIONS: Conditions = {
  ...shape<Where>({ type: 'object', additionalProperties: TEXTS }),
  description:
    'Each is its own parameter, and all must hold: `FIELD=value`, or `FIELD[ne]`, `[lt]`, `[lte]`, `[gt]`, `[gte]` with one value, or `FIELD[in]`, repeated. ' +
    'One must be equality on the shard field. An absent field meets none, `[ne]` included.',
  example: {
    driver_partner_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10',
    'city[in]': ['Lisbon', 'Porto'],
    'fare.total[gte]': '1000',
  },
};

export const REQUIRED_CONDITIONS: Conditions = { ...CONDITIONS, isRequired: true };

/**
 * Reads parameters: `city=Lisbon`, `riders[gte]=2`, `city[in]=Lisbon&city[in]=Porto`; names and values decoded. Throws
 * SchemalessError `invalid_field` for a name that is no condition, and for a second value except with `in`.
 */
export function readConditions(parameters: ReadonlyMap<string, readonly string[]>): Where {
  // A map, since a field may be called `__proto__`.
  const where = new Map<string, object>();
  for (const [name, values] of parameters) {
    const { field, operator } = readName(name);
    if (operator !== 'in' && values.length > 1)
      throw invalidField(name, 'one value', values.slice(0, 2).join(', then '));
    where.set(field, { ...where.get(field), [operator]: operator === 'in' ? values : values[0] });
  }
  return Object.fromEntries(where) as Where;
}

function readName(name: string): Pick<Condition, 'field' | 'operator'> {
  const [, field = '', bracketed] = /^([^[\]]+)(?:\[(\w*)\])?$/.exec(name) ?? [];
  const operator = bracketed === undefined ? 'eq' : BRACKETED.find((known) => known === bracketed);
  if (field === '' || operator === undefined) throw invalidField(name, WANTED, name);
  if (operator !== 'eq' && QUERY_WORDS.includes(field))
    throw invalidField(name, `${field} without an operator: it is no field`, name);
  return { field, operator };
}
