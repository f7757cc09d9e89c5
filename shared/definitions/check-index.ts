import { describe } from '../errors.ts';
import type { DefinitionFile, Sound, YamlPath } from './definition-file.ts';
import { isWithin } from './check-datastore.ts';
import {
  HASHED,
  isSealed,
  MAX_INDEX_FIELDS,
  sealedOf,
  type FieldType,
  type IndexField,
  type SealedFields,
} from './definitions.ts';
import { MAX_KEYS, type indexYaml } from './yaml-schemas.ts';

type IndexFile = DefinitionFile<typeof indexYaml>;
type PlacedField = Sound<IndexField> & { readonly path: YamlPath };

/** Why a type spreads badly; the others are allowed. */
const REFUSED: Partial<Readonly<Record<FieldType, string>>> = {
  boolean: 'all entries would be in two shards',
  number: 'whether two fractions are equal is not to be relied on',
};

/** Names of what has a few values, each of which most rows would share. */
const FEW_VALUES =
  /^(?:is_\w+|has_\w+|(?:\w+_)?(?:status|state|type|kind|gender|currency|country|country_code|city|language))$/iu;

/**
 * Checks the fields of an index against each other and those that are sealed, and its keys against the fields. `types`:
 * of the sealed fields that other indexes name, by column and field; those of this one are added: a field has one hash.
 */
export function checkIndex(index: IndexFile, sealed: readonly SealedFields[], types: Map<string, FieldType>): void {
  const fields = (index.sound?.column_defs ?? []).flatMap((column, position) =>
    (column?.fields ?? []).map((field, at) => ({
      ...field,
      column_key: column?.column_key,
      path: ['column_defs', position, 'fields', at],
    })),
  );
  index.once(
    'field',
    fields.map(({ field, path }) => ({ name: field, path: [...path, 'field'] })),
  );
  const over = fields[MAX_INDEX_FIELDS];
  if (over) index.problem(over.path, `column_defs: wanted at most ${MAX_INDEX_FIELDS} fields, got ${fields.length}`);
  if (fields[0]) checkShardField(index, fields[0]);
  checkKeys(
    index,
    fields.map(({ field }) => field),
  );
  for (const field of fields) checkSealed(index, field, sealed, types);
}

/** The first field says in which shard an entry is: with few values, a few shards would hold everything. */
function checkShardField(index: IndexFile, { field = '', type, path }: PlacedField): void {
  const why = type && REFUSED[type];
  if (why !== undefined) {
    const wanted = 'UUID, string, integer or datetime for the first field, the shard field';
    index.wrong([...path, 'type'], wanted, `: ${why}. Put a field first that has many values, such as an id`);
  } else if (type === 'string' && FEW_VALUES.test(field.split('.').at(-1) ?? '')) {
    const sounds = `${describe(field)} sounds like few: entries would crowd in a few shards`;
    index.warn(path, `the first field, the shard field, should have many values, such as an id, and ${sounds}`);
  }
}

/** @param fields the names of all, the shard field first */
function checkKeys(index: IndexFile, [shardField, ...others]: readonly (string | undefined)[]): void {
  const known = others.filter((name) => name !== undefined);
  const keys = (index.sound?.keys ?? []).map((key = [], position) =>
    key.map((name, at) => ({ name, path: ['keys', position, at] })),
  );
  if (keys.length > MAX_KEYS) index.wrong(['keys'], `at most ${MAX_KEYS} lists of field names`);
  for (const { name, path } of keys.flat()) {
    if (name === undefined) continue;
    if (name === shardField) index.wrong(path, 'fields behind the shard field, which precedes them in every key');
    else if (!known.includes(name))
      index.wrong(path, `one of ${known.join(', ') || '(no field beside the shard field)'}`);
  }
  for (const key of keys) index.once('field', key);
  const combinations = keys.map((key) => key.map(({ name }) => name).join(', ') || undefined);
  index.once(
    'combination',
    combinations.map((name, position) => ({ name, path: ['keys', position] })),
  );
}

function checkSealed(
  index: IndexFile,
  { field, type, column_key, path }: PlacedField,
  sealed: readonly SealedFields[],
  types: Map<string, FieldType>,
): void {
  if (field === undefined || column_key === undefined) return;
  const around = sealedOf(sealed, column_key).find((one) => one !== field && isWithin(field, one));
  if (around !== undefined) index.wrong([...path, 'field'], `${around} itself, which is sealed as a whole`);
  if (type === undefined || !isSealed(sealed, column_key, field)) return;
  const specified = types.get(`${column_key}/${field}`);
  if (!HASHED.includes(type)) index.wrong([...path, 'type'], `${HASHED.join(' or ')} for ${field}, which is sealed`);
  else if (specified !== undefined && specified !== type)
    index.wrong([...path, 'type'], `${specified} for ${field}, which is sealed, as in another index`);
  else types.set(`${column_key}/${field}`, type);
}
