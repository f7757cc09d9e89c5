import { describe } from '../errors.ts';
import { DATASTORE_NAME, MAX_SHARDS, type DatastoreDefinition } from './definitions.ts';
import type { Problem } from './definitions-error.ts';
import { Problems } from './problems.ts';
import { parseYamlFile } from './yaml-file.ts';

const KEYS = ['datastore', 'shards'];

export interface ParsedDatastore {
  /** Undefined when a problem leaves nothing to go on with. */
  readonly definition: Omit<DatastoreDefinition, 'indexes' | 'triggers'> | undefined;
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
  const { entries, problems: found } = parseYamlFile(file, text);
  if (!entries) return { definition: undefined, line: 1, problems: found };
  const problems = new Problems(file, found);
  problems.unknownKeys(entries, KEYS);

  const name = entries.get('datastore');
  const validName = typeof name?.value === 'string' && DATASTORE_NAME.test(name.value) ? name.value : undefined;
  if (validName === undefined) problems.wrong('datastore', 'a name of 1 to 48 of a-z, 0-9 and _ that starts with a letter', name);
  else if (validName !== folder) problems.wrong('datastore', `${describe(folder)}, the name of its folder`, name);

  const shards = entries.get('shards');
  const validShards = isShardCount(shards?.value) ? shards.value : undefined;
  if (validShards === undefined) problems.wrong('shards', `a whole number from 1 to ${MAX_SHARDS}`, shards);

  const complete = validName !== undefined && validShards !== undefined;
  return { definition: complete ? { name: validName, shards: validShards } : undefined, line: name?.line ?? 1, problems: problems.list };
}

function isShardCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SHARDS;
}
