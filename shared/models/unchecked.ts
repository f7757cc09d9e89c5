import type { StandardSchema } from '../client/standard-schema.ts';

/** Bodies of this type, which nothing checks while the program runs. */
export function unchecked<Body extends object>(): StandardSchema<Body> {
  return {
    '~standard': { version: 1, vendor: 'schemaless', validate: (value) => ({ value: value as Body }) },
  };
}
