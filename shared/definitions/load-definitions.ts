import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkIndex } from './check-index.ts';
import { checkTrigger } from './check-trigger.ts';
import { DefinitionFiles } from './definition-files.ts';
import type { DatastoreDefinition, Definitions } from './definitions.ts';
import { DefinitionsError, type Problem } from './definitions-error.ts';
import { entriesOf } from './folder-entries.ts';
import { hasMisnamedDatastore, misplacedDatastores, misplacedParts } from './misplaced.ts';
import { datastoreYaml, indexYaml, triggerYaml } from './yaml-schemas.ts';

const DATASTORE = { noun: 'datastore', key: 'datastore', schema: datastoreYaml };
const INDEX = { noun: 'index', key: 'table', schema: indexYaml, check: checkIndex };
const TRIGGER = { noun: 'trigger', key: 'trigger', schema: triggerYaml };

/**
 * Reads and checks every `<folder>/<datastore>/datastore.yaml`, and the datastore's indexes and triggers beside it.
 *
 * Throws one `DefinitionsError` that lists every problem of every file with its line, also when there is no datastore
 * at all, and names what lies where nothing would read it.
 *
 * @param warn told of what can be done, and will be regretted @default nobody is told
 * @param project the folder that the triggers' functions are given from @default whether they are there is not looked
 *   at
 */
export function loadDefinitions(
  folder: string,
  warn: (warning: Problem) => void = () => undefined,
  project?: string,
): Definitions {
  if (!existsSync(folder))
    throw new DefinitionsError(folder, [
      { file: folder, line: 0, message: 'wanted a folder of datastores, got nothing' },
    ]);
  const files = new DefinitionFiles(folder);
  const { problems } = files;
  problems.push(...misplacedDatastores(folder));
  const datastores: DatastoreDefinition[] = [];
  for (const { name } of entriesOf(folder).filter(({ kind }) => kind === 'folder')) {
    const file = join(name, 'datastore.yaml');
    const isThere = existsSync(join(folder, file));
    const datastore = isThere && files.read(file, DATASTORE);
    if (!isThere && !hasMisnamedDatastore(folder, name))
      problems.push({ file, line: 0, message: 'wanted a file datastore.yaml in each folder, got none' });
    problems.push(...misplacedParts(folder, name));
    const indexes = files.readPart(name, 'indexes', INDEX);
    const triggers = files.readPart(name, 'triggers', {
      ...TRIGGER,
      check: (trigger) => checkTrigger(trigger, project),
    });
    if (datastore) datastores.push({ ...datastore, indexes, triggers });
  }

  for (const warning of files.warnings) warn(warning);
  if (problems.length === 0 && datastores.length === 0)
    problems.push({ file: '.', line: 0, message: 'wanted at least one datastore, got none' });
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  return { datastores };
}
