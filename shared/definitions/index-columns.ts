import { QUERY_WORDS } from './query-words.ts';
import { LIMITS } from '../cell.ts';
import { describe } from '../errors.ts';
import { FIELD_TYPES, MAX_INDEX_FIELDS, type FieldType, type IndexField } from './definitions.ts';
import type { Problems } from './problems.ts';
import { listOf, mappingOf, type YamlEntry } from './yaml-file.ts';

/** A field and where it stands in its file. */
export interface LocatedField extends IndexField {
  readonly line: number;
  /** `column_defs[0].fields[2]` */
  readonly path: string;
}

export interface ParsedColumns {
  /** Those without problems, the shard field first; none when that one has a problem. */
  readonly fields: readonly LocatedField[];
  /** Every name given to a field, also to one with another problem, in their order. */
  readonly names: readonly string[];
}

const PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/u;
const MAX_PATH = 64;

/** Checks `column_defs`: which fields of which columns. */
export function parseColumns(entry: YamlEntry | undefined, problems: Problems): ParsedColumns {
  const columns = listOf(entry);
  if (!columns || columns.length === 0) {
    problems.wrong('column_defs', 'a list of columns with their fields', entry);
    return { fields: [], names: [] };
  }
  const found: FoundField[] = [];
  for (const [place, column] of columns.entries()) found.push(...parseColumn(column, `column_defs[${place}]`, problems));

  const firstLines = new Map<string, number>();
  for (const { name, line, path } of found) {
    if (name === undefined) continue;
    const first = firstLines.get(name);
    if (first === undefined) firstLines.set(name, line);
    else problems.add(line, `${path}.field: wanted each field once, got ${describe(name)} again, which line ${first} has`);
  }
  const over = found[MAX_INDEX_FIELDS];
  if (over) problems.add(over.line, `column_defs: wanted at most ${MAX_INDEX_FIELDS} fields, got ${found.length}`);

  const [first] = found;
  const fields = found.flatMap(({ name, type, column, line, path }) => (name === undefined || type === undefined ? [] : [{ field: name, type, column_key: column, line, path }]));
  // Where the first one has a problem, the second is not the shard field.
  return { fields: first?.name === undefined || first.type === undefined ? [] : fields, names: [...firstLines.keys()] };
}

interface FoundField {
  readonly name: string | undefined;
  readonly type: FieldType | undefined;
  readonly column: string;
  readonly line: number;
  readonly path: string;
}

function parseColumn(entry: YamlEntry, path: string, problems: Problems): readonly FoundField[] {
  const column = mappingOf(entry);
  if (!column) {
    problems.wrong(path, 'a mapping of column_key and fields', entry);
    return [];
  }
  problems.unknownKeys(column, ['column_key', 'fields']);
  const key = column.get('column_key');
  const valid = typeof key?.value === 'string' && isColumnName(key.value) ? key.value : undefined;
  if (valid === undefined) problems.wrong(`${path}.column_key`, `text of 1 to ${LIMITS.columnNameBytes} bytes`, key, entry.line);
  const fields = listOf(column.get('fields'));
  if (!fields || fields.length === 0) problems.wrong(`${path}.fields`, 'a list of fields, each a mapping of field and type', column.get('fields'), entry.line);
  return (fields ?? []).map((field, place) => ({ ...parseField(field, `${path}.fields[${place}]`, problems), column: valid ?? '' }));
}

function parseField(entry: YamlEntry, path: string, problems: Problems): Omit<FoundField, 'column'> {
  const field = mappingOf(entry);
  if (!field) {
    problems.wrong(path, 'a mapping of field and type', entry);
    return { name: undefined, type: undefined, line: entry.line, path };
  }
  problems.unknownKeys(field, ['field', 'type']);
  const name = field.get('field');
  const validName = typeof name?.value === 'string' && isFieldName(name.value) ? name.value : undefined;
  if (validName === undefined) {
    problems.wrong(`${path}.field`, `a name, or names joined by points, each of A-Z, a-z, 0-9 and _ and not starting with a digit, at most ${MAX_PATH} in all`, name, entry.line);
  } else if (QUERY_WORDS.includes(validName)) {
    problems.wrong(`${path}.field`, `a name that means nothing else in a query (${QUERY_WORDS.join(', ')})`, name);
  }
  const type = field.get('type');
  const validType = FIELD_TYPES.find((known) => known === type?.value);
  if (validType === undefined) problems.wrong(`${path}.type`, `one of ${FIELD_TYPES.join(', ')}`, type, entry.line);
  return { name: validName, type: validType, line: entry.line, path };
}

/** Whether a column can have this name. */
export function isColumnName(text: string): boolean {
  return text !== '' && text.isWellFormed() && Buffer.byteLength(text) <= LIMITS.columnNameBytes;
}

/** `__proto__` is refused because an object with a key of that name is a trap for whoever reads the answer. */
function isFieldName(text: string): boolean {
  return text.length <= MAX_PATH && PATH.test(text) && !text.split('.').includes('__proto__');
}
