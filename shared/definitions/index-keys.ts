import { describe } from '../errors.ts';
import type { Problems } from './problems.ts';
import { listOf, type YamlEntry } from './yaml-file.ts';

/** With the shard field and the row key in front and behind, of strings at their longest: below MySQL's 3072 bytes a key. */
const MAX_KEY_FIELDS = 8;
/** With a key for each field: below MySQL's 64 keys a table, and more than writes can bear anyway. */
const MAX_KEYS = 16;

/**
 * Checks `keys`: combinations of fields that get a key each, behind the shard field.
 *
 * @param names of all fields, the shard field first
 */
export function parseKeys(entry: YamlEntry | undefined, names: readonly string[], problems: Problems): readonly (readonly string[])[] {
  if (!entry) return [];
  const keys = listOf(entry);
  if (!keys) {
    problems.wrong('keys', 'a list of lists of field names', entry);
    return [];
  }
  if (keys.length > MAX_KEYS) problems.add(entry.line, `keys: wanted at most ${MAX_KEYS}, got ${keys.length}`);
  const lines = new Map<string, number>();
  return keys.map((key, place) => {
    const path = `keys[${place}]`;
    const fields = listOf(key);
    if (!fields || fields.length < 2 || fields.length > MAX_KEY_FIELDS) {
      const got = fields ? `${fields.length} of them` : describe(key.value);
      problems.add(key.line, `${path}: wanted a list of 2 to ${MAX_KEY_FIELDS} field names (each field has a key of its own already), got ${got}`);
      return [];
    }
    const combination = fields.map((field, at) => checkField(field, `${path}[${at}]`, names, problems));
    const repeated = combination.find((field, at) => combination.indexOf(field) < at);
    if (repeated !== undefined) problems.add(key.line, `${path}: wanted each field once, got ${describe(repeated)} again`);
    const said = JSON.stringify(combination);
    const first = lines.get(said);
    if (first === undefined) lines.set(said, key.line);
    else problems.add(key.line, `${path}: wanted each combination once, got that of line ${first} again`);
    return combination;
  });
}

function checkField(entry: YamlEntry, path: string, names: readonly string[], problems: Problems): string {
  const { value } = entry;
  const [shardField, ...others] = names;
  if (value === shardField) problems.wrong(path, 'fields behind the shard field, which precedes them in every key', entry);
  else if (typeof value !== 'string' || !others.includes(value)) problems.wrong(path, `one of ${others.join(', ') || '(no field beside the shard field)'}`, entry);
  return String(value);
}
