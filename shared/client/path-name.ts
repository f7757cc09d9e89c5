import { describe, SchemalessError } from '../errors.ts';

/** The name of an index or a trigger, as part of a path: any other would ask for another path. Throws `unknown_…`. */
export function pathName(kind: 'index' | 'trigger', pattern: RegExp, name: string): string {
  if (pattern.test(name)) return name;
  const [wanted, got] = ['the name of one', describe(name)];
  throw new SchemalessError(`unknown_${kind}`, `${kind}: wanted ${wanted}, got ${got}`, { field: kind, wanted, got });
}
