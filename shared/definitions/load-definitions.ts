import { existsSync } from 'node:fs';
import { checkDatastore } from './check-datastore.ts';
import { checkIndex } from './check-index.ts';
import { checkTrigger } from './check-trigger.ts';
import { DefinitionFiles, misplacedDatastores, misplacedParts } from './definition-files.ts';
import { folderSource, type DefinitionSource } from './definition-source.ts';
import { markSealed, type DatastoreDefinition, type Definitions, type FieldType } from './definitions.ts';
import { DefinitionsError, type Problem } from './definitions-error.ts';
import { datastoreYaml, indexYaml, triggerYaml } from './yaml-schemas.ts';

const DATASTORE = { noun: 'datastore', key: 'datastore', schema: datastoreYaml, check: checkDatastore };
const INDEX = { noun: 'index', key: 'table', schema: indexYaml };
const TRIGGER = { noun: 'trigger', key: 'trigger', schema: triggerYaml };

interface JudgedDefinitions {
  readonly definitions: Definitions;
  /** All problems, with file and line; if there are any, the definitions must not be used. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Reads and checks every `<datastore>/datastore.yaml`, with its indexes and triggers. Having no datastore is a problem,
 * and so are files that nothing would read. `project`: the folder that paths of triggers' functions start from; without
 * it their existence is not checked.
 */
export function judgeDefinitions(source: DefinitionSource, project?: string): JudgedDefinitions {
  const files = new DefinitionFiles(source);
  const { problems, warnings } = files;
  const datastores: DatastoreDefinition[] = [];
  problems.push(...misplacedDatastores(source));
  for (const { name } of (source.entries('') ?? []).filter(({ kind }) => kind === 'folder')) {
    const file = `${name}/datastore.yaml`;
    const isThere = source.entries(name)?.some((entry) => entry.name === 'datastore.yaml' && entry.kind === 'file');
    const datastore = isThere && files.read(file, DATASTORE);
    if (!isThere) problems.push({ file, line: 0, message: 'wanted a file datastore.yaml in each folder, got none' });
    problems.push(...misplacedParts(source, name));
    const { sealed = [] } = datastore || {};
    const types = new Map<string, FieldType>();
    const indexes = files.readPart(name, 'indexes', {
      ...INDEX,
      check: (index) => checkIndex(index, sealed, types),
    });
    const triggers = files.readPart(name, 'triggers', {
      ...TRIGGER,
      check: (trigger) => checkTrigger(trigger, project),
    });
    if (datastore)
      datastores.push({ ...datastore, indexes: indexes.map((index) => markSealed(index, sealed)), triggers });
  }
  if (problems.length === 0 && datastores.length === 0)
    problems.push({ file: '.', line: 0, message: 'wanted at least one datastore, got none' });
  return { definitions: { datastores }, problems, warnings };
}

/**
 * As `judgeFolder`; `warn` is told of warnings. Throws one `DefinitionsError` that lists every problem of every file.
 */
export function loadDefinitions(
  folder: string,
  warn: (warning: Problem) => void = () => undefined,
  project?: string,
): Definitions {
  const { definitions, problems, warnings } = judgeFolder(folder, project);
  for (const warning of warnings) warn(warning);
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  return definitions;
}

/** As `judgeDefinitions`; that there is no folder is a problem. */
export function judgeFolder(folder: string, project?: string): JudgedDefinitions {
  if (existsSync(folder)) return judgeDefinitions(folderSource(folder), project);
  const problem = { file: folder, line: 0, message: 'wanted a folder of datastores, got nothing' };
  return { definitions: { datastores: [] }, problems: [problem], warnings: [] };
}
