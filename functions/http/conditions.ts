import { QUERY_WORDS } from '../../shared/definitions/query-words.ts';
import { invalidField } from '../../shared/errors.ts';
import { OPERATORS } from '../../shared/index/query.ts';
import type { Condition, Operator } from '../../shared/contract/index-query.ts';

/** In brackets behind the field; equality has none. */
const BRACKETED = OPERATORS.filter((operator) => operator !== 'eq');
const WANTED = `a field, alone for equality or with one of ${BRACKETED.map((operator) => `[${operator}]`).join(' ')} behind it`;

/**
 * The conditions of a query string: `city=Lisbon`, `riders[gte]=2`, `city[in]=Lisbon&city[in]=Porto`.
 *
 * @param parameters all but those that mean something else; names and values decoded
 * @throws SchemalessError `invalid_field` for a name that is no condition, and for a second value where one is taken
 */
export function readConditions(parameters: ReadonlyMap<string, readonly string[]>): readonly Condition[] {
  return [...parameters].map(([name, values]) => {
    const { field, operator } = readName(name);
    if (operator !== 'in' && values.length > 1)
      throw invalidField(name, 'one value', values.slice(0, 2).join(', then '));
    return { field, operator, values };
  });
}

function readName(name: string): { readonly field: string; readonly operator: Operator } {
  const [, field = '', bracketed] = /^([^[\]]+)(?:\[(\w*)\])?$/.exec(name) ?? [];
  const operator = bracketed === undefined ? 'eq' : BRACKETED.find((known) => known === bracketed);
  if (field === '' || operator === undefined) throw invalidField(name, WANTED, name);
  if (operator !== 'eq' && QUERY_WORDS.includes(field))
    throw invalidField(name, `${field} without an operator: it is no field`, name);
  return { field, operator };
}
