import { equalJson } from '../body/equal.ts';
import type { Json } from '../cell.ts';
import { type StandardSchema, validate } from '../client/standard-schema.ts';
import { wrongField } from '../errors.ts';
import type { Members } from './model-column.ts';

/** Returns a validator's output for a body. Throws `invalid_body`, also if a second run would change it. */
export async function judgedBy(validator: StandardSchema, next: Members, name: string): Promise<Json> {
  const body = await validate(validator, next);
  // The next change validates the output again: an unstable validator would change members that no caller set.
  const again = await validate(validator, body).catch(() => undefined);
  if (again !== undefined && equalJson(again, body)) return body;
  const wanted = 'a validator that takes what it makes, and leaves it as it is';
  const got = 'one that changes it again, or refuses it';
  throw wrongField(name, wanted, got, 'invalid_body');
}

/** Bodies of this type, which nothing checks while the program runs. */
export function unchecked<Body extends object>(): StandardSchema<Body> {
  return {
    '~standard': { version: 1, vendor: 'schemaless', validate: (value) => ({ value: value as Body }) },
  };
}
