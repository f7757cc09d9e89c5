import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDatastore } from './datastore-definition.ts';
import type { DatastoreDefinition, Definitions } from './definitions.ts';
import { DefinitionsError, type Problem } from './definitions-error.ts';
import { entriesOf } from './folder-entries.ts';
import { parseIndex } from './index-definition.ts';
import { loadFiles } from './load-files.ts';
import { hasMisnamedDatastore, misplacedDatastores, misplacedParts } from './misplaced.ts';
import { parseTrigger } from './trigger-definition.ts';

/**
 * Reads and checks every `<folder>/<datastore>/datastore.yaml`, and the datastore's indexes and triggers beside it.
 *
 * Throws one `DefinitionsError` that lists every problem of every file with its line, also when there is no datastore
 * at all, and names what lies where nothing would read it.
 *
 * @param warn told of what can be done, and will be regretted @default nobody is told
 * @param project the folder that the triggers' functions are given from @default whether they are there is not looked at
 */
export function loadDefinitions(folder: string, warn: (warning: Problem) => void = () => undefined, project?: string): Definitions {
  if (!existsSync(folder)) throw new DefinitionsError(folder, [{ file: folder, line: 0, message: 'wanted a folder of datastores, got nothing' }]);
  const datastores = new Map<string, DatastoreDefinition>();
  const files = new Map<string, string>();
  const problems: Problem[] = [...misplacedDatastores(folder)];

  for (const { name, kind } of entriesOf(folder)) {
    if (kind !== 'folder') continue;
    const indexes = loadFiles(folder, name, { folder: 'indexes', noun: 'index', parse: parseIndex });
    const triggers = loadFiles(folder, name, { folder: 'triggers', noun: 'trigger', parse: (place, text) => parseTrigger(place, text, project) });
    for (const warning of [...indexes.warnings, ...triggers.warnings]) warn(warning);
    const besides = [...misplacedParts(folder, name), ...indexes.problems, ...triggers.problems];
    const file = join(name, 'datastore.yaml');
    const path = join(folder, file);
    if (!existsSync(path)) {
      if (!hasMisnamedDatastore(folder, name)) problems.push({ file, line: 0, message: 'wanted a file datastore.yaml in each folder, got none' });
      problems.push(...besides);
      continue;
    }
    const parsed = parseDatastore(file, name, readFileSync(path, 'utf8'));
    problems.push(...parsed.problems, ...besides);
    if (!parsed.definition) continue;
    const earlier = files.get(parsed.definition.name);
    if (earlier !== undefined) problems.push({ file, line: parsed.line, message: `datastore ${parsed.definition.name} is defined in ${earlier} already` });
    files.set(parsed.definition.name, file);
    datastores.set(parsed.definition.name, { ...parsed.definition, indexes: indexes.definitions, triggers: triggers.definitions });
  }

  if (problems.length === 0 && datastores.size === 0) problems.push({ file: '.', line: 0, message: 'wanted at least one datastore, got none' });
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  return { datastores: [...datastores.values()] };
}
