import { describe } from '../errors.ts';
import { DATASTORE_NAME, MAX_SHARDS, type DatastoreDefinition } from './definitions.ts';
import type { Problem } from './definitions-error.ts';
import { parseYamlFile, type YamlEntry } from './yaml-file.ts';

const KEYS = ['datastore', 'shards'];

export interface ParsedDatastore {
  /** Undefined when a problem leaves nothing to go on with. */
  readonly definition: DatastoreDefinition | undefined;
  /** Where it says its name. */
  readonly line: number;
  readonly problems: readonly Problem[];
}

/**
 * Checks one `datastore.yaml`.
 *
 * @param file its path, for the problems
 * @param folder the name of its folder, which has to be the datastore's
 */
export function parseDatastore(file: string, folder: string, text: string): ParsedDatastore {
  const { entries, problems: yamlProblems } = parseYamlFile(file, text);
  if (!entries) return { definition: undefined, line: 1, problems: yamlProblems };

  const problems = [...yamlProblems];
  for (const [key, { line }] of entries) {
    if (!KEYS.includes(key)) problems.push({ file, line, message: `unknown key ${describe(key)}: wanted one of ${KEYS.join(', ')}` });
  }
  const problemOf = (key: string, wanted: string, entry: YamlEntry | undefined): void => {
    problems.push({ file, line: entry?.line ?? 1, message: `${key}: wanted ${wanted}, got ${entry ? describe(entry.value) : 'nothing'}` });
  };

  const name = entries.get('datastore');
  const validName = typeof name?.value === 'string' && DATASTORE_NAME.test(name.value) ? name.value : undefined;
  if (validName === undefined) problemOf('datastore', 'a name of 1 to 48 of a-z, 0-9 and _ that starts with a letter', name);
  else if (validName !== folder) problemOf('datastore', `${describe(folder)}, the name of its folder`, name);

  const shards = entries.get('shards');
  const validShards = isShardCount(shards?.value) ? shards.value : undefined;
  if (validShards === undefined) problemOf('shards', `a whole number from 1 to ${MAX_SHARDS}`, shards);

  const complete = validName !== undefined && validShards !== undefined;
  return { definition: complete ? { name: validName, shards: validShards } : undefined, line: name?.line ?? 1, problems };
}

function isShardCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SHARDS;
}
