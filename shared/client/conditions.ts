import { conditionsOf, parameterOf, type Where } from '../where.ts';
import { QUERY_WORDS } from '../definitions/definitions.ts';
import { describe, SchemalessError, wrongField } from '../errors.ts';

/** Writes conditions as parameters: `city`, `riders[gte]`, `city[in]`. Throws `unknown_field`, `invalid_field`. */
export function toParameters(where: Where): Readonly<Record<string, readonly string[]>> {
  const parameters = conditionsOf(where).map(({ field, operator, values }) => {
    if (QUERY_WORDS.includes(field) || !/^[^[\]]+$/.test(field)) throw notKnown(field);
    return [parameterOf({ field, operator }), values.map(String)] as const;
  });
  return Object.fromEntries(parameters);
}

function notKnown(field: string): SchemalessError {
  const wanted = 'the name of a field of the index';
  const details = { field, wanted, got: field };
  return new SchemalessError('unknown_field', `${field} is not known here: wanted ${wanted}`, details);
}

/** Checks the name of an index or a trigger, since any other text would change the path. Throws `unknown_…`. */
export function pathName(kind: 'index' | 'trigger', pattern: RegExp, name: string): string {
  if (pattern.test(name)) return name;
  throw wrongField(kind, 'the name of one', describe(name), `unknown_${kind}`);
}
