import * as z from 'zod';
import { datastoreYaml, indexYaml, triggerYaml } from '../../shared/definitions/yaml-schemas.ts';

/**
 * The text of each JSON Schema of this folder by the name of its file, as `npm run schema` writes it: what editors
 * check the YAML of datastores by, and complete it with. They take all that is right, and some that is not: what
 * depends on several values or on names of files is looked at when the definitions are loaded.
 */
export function jsonSchemas(): Readonly<Record<string, string>> {
  const schemas = { datastore: datastoreYaml, index: indexYaml, trigger: triggerYaml };
  // The draft that every editor knows.
  const textOf = (schema: z.ZodType): string =>
    `${JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-07' }), undefined, 2)}\n`;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, textOf(schema)]));
}
