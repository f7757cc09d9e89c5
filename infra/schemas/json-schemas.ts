import * as z from 'zod';
import { datastoreYaml, indexYaml, triggerYaml } from '../../shared/definitions/yaml-schemas.ts';

/** Returns the JSON Schemas of the YAML by file name, as `npm run schema` writes them, for editors. */
export function jsonSchemas(): Readonly<Record<string, string>> {
  const schemas = { datastore: datastoreYaml, index: indexYaml, trigger: triggerYaml };
  // The draft that every editor knows.
  const textOf = (schema: z.ZodType): string =>
    `${JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-07' }), undefined, 2)}\n`;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, textOf(schema)]));
}
