import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDatastore } from './datastore-definition.ts';
import type { DatastoreDefinition, Definitions } from './definitions.ts';
import { DefinitionsError, type Problem } from './definitions-error.ts';
import { loadIndexes } from './load-indexes.ts';

/**
 * Reads and checks every `<folder>/<datastore>/datastore.yaml`, and the datastore's indexes beside it.
 *
 * Throws one `DefinitionsError` that lists every problem of every file with its line, also when there is no datastore
 * at all.
 *
 * @param warn told of what can be done, and will be regretted @default nobody is told
 */
export function loadDefinitions(folder: string, warn: (warning: Problem) => void = () => undefined): Definitions {
  if (!existsSync(folder)) throw new DefinitionsError(folder, [{ file: folder, line: 0, message: 'wanted a folder of datastores, got nothing' }]);
  const datastores = new Map<string, DatastoreDefinition>();
  const files = new Map<string, string>();
  const problems: Problem[] = [];

  for (const name of datastoreFolders(folder)) {
    const { indexes, problems: indexProblems, warnings } = loadIndexes(folder, name);
    for (const warning of warnings) warn(warning);
    const file = join(name, 'datastore.yaml');
    const path = join(folder, file);
    if (!existsSync(path)) {
      problems.push({ file, line: 0, message: 'wanted a file datastore.yaml in each folder, got none' }, ...indexProblems);
      continue;
    }
    const parsed = parseDatastore(file, name, readFileSync(path, 'utf8'));
    problems.push(...parsed.problems, ...indexProblems);
    if (!parsed.definition) continue;
    const earlier = files.get(parsed.definition.name);
    if (earlier !== undefined) problems.push({ file, line: parsed.line, message: `datastore ${parsed.definition.name} is defined in ${earlier} already` });
    files.set(parsed.definition.name, file);
    datastores.set(parsed.definition.name, { ...parsed.definition, indexes });
  }

  if (problems.length === 0 && datastores.size === 0) problems.push({ file: '.', line: 0, message: 'wanted at least one datastore, got none' });
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  return { datastores: [...datastores.values()] };
}

/** In the order of their names, so that the same files always give the same definitions. */
function datastoreFolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
