import { describe } from '../errors.ts';
import { INDEX_NAME, type IndexDefinition } from './definitions.ts';
import { parseColumns } from './index-columns.ts';
import { parseKeys } from './index-keys.ts';
import type { FilePlace, ParsedFile } from './load-files.ts';
import { Problems } from './problems.ts';
import { checkShardField } from './shard-field.ts';
import { parseYamlFile } from './yaml-file.ts';

const KEYS = ['table', 'datastore', 'column_defs', 'keys'];

/** Checks one `indexes/<name>.yaml`. */
export function parseIndex({ file, name, datastore }: FilePlace, text: string): ParsedFile<IndexDefinition> {
  const { entries, problems: found } = parseYamlFile(file, text);
  if (!entries) return { definition: undefined, line: 1, problems: found, warnings: [] };
  const problems = new Problems(file, found);
  const warnings = new Problems(file, []);
  problems.unknownKeys(entries, KEYS);

  const table = entries.get('table');
  const validName = typeof table?.value === 'string' && INDEX_NAME.test(table.value) ? table.value : undefined;
  if (validName === undefined) problems.wrong('table', 'a name of 1 to 55 of a-z, 0-9 and _ that starts with a letter', table);
  else if (validName !== name) problems.wrong('table', `${describe(name)}, the name of its file`, table);

  const owner = entries.get('datastore');
  if (owner?.value !== datastore) problems.wrong('datastore', `${describe(datastore)}, the name of its folder`, owner);

  const { fields, names } = parseColumns(entries.get('column_defs'), problems);
  checkShardField(fields[0], problems, warnings);
  const keys = parseKeys(entries.get('keys'), names, problems);

  const definition = validName === undefined ? undefined : { name: validName, fields: fields.map(({ field, type, column_key }) => ({ field, type, column_key })), keys };
  return { definition, line: table?.line ?? 1, problems: problems.list, warnings: warnings.list };
}
