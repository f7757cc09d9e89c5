import type { DefinitionFile } from './definition-file.ts';
import { HASHED, isSealed, sealedOf, type FieldType, type SealedFields } from './definitions.ts';
import type { datastoreYaml, indexYaml } from './yaml-schemas.ts';
import { ERASABLE_NAME_BYTES } from '../address.ts';

/** Checks that each column has one rule, which says something, and that its cells can be erased. */
export function checkRetention(datastore: DefinitionFile<typeof datastoreYaml>): void {
  const rules = (datastore.sound?.retention ?? []).map((rule = {}, position) => ({
    ...rule,
    path: ['retention', position],
  }));
  datastore.once(
    'column',
    rules.map(({ column, path }) => ({ name: column, path: [...path, 'column'] })),
  );
  for (const { path, ...rule } of rules) {
    if (!('keep_versions' in rule) && !('keep_for' in rule))
      datastore.wrong(path, 'a rule with keep_versions or keep_for, or both');
    if (rule.column !== undefined && Buffer.byteLength(rule.column) > ERASABLE_NAME_BYTES)
      datastore.wrong([...path, 'column'], `text of at most ${ERASABLE_NAME_BYTES} bytes, whose cells can be erased`);
  }
}

export function checkSealed(file: DefinitionFile<typeof datastoreYaml>): void {
  const lists = file.sound?.sealed ?? [];
  const seen: { readonly column: string; readonly field: string }[] = [];
  for (const [position, { column, fields } = {}] of lists.entries())
    for (const [at, field] of (fields ?? []).entries()) {
      if (column === undefined || field === undefined) continue;
      const path = ['sealed', position, 'fields', at];
      const named = lists.find((one) => one?.column === column && isWithin(one.subject ?? '', field));
      if (named) file.wrong(path, `fields beside ${named.subject}, which names a subject and has to be read`);
      const other = seen.find(
        (one) => one.column === column && (isWithin(one.field, field) || isWithin(field, one.field)),
      );
      if (other) file.wrong(path, `each field once in ${column}, got ${other.field} already`);
      seen.push({ column, field });
    }
}

/**
 * Checks the fields of an index against those that are sealed. `types`: of the sealed fields that other indexes name,
 * by column and field; those of this one are added: a field has one hash.
 */
export function checkIndexOverSealed(
  index: DefinitionFile<typeof indexYaml>,
  sealed: readonly SealedFields[],
  types: Map<string, FieldType>,
): void {
  for (const [position, column] of (index.sound?.column_defs ?? []).entries())
    for (const [at, { field, type } = {}] of (column?.fields ?? []).entries()) {
      const column_key = column?.column_key;
      if (field === undefined || column_key === undefined) continue;
      const path = ['column_defs', position, 'fields', at];
      const around = sealedOf(sealed, column_key).find((one) => one !== field && isWithin(field, one));
      if (around !== undefined) index.wrong([...path, 'field'], `${around} itself, which is sealed as a whole`);
      if (type === undefined || !isSealed(sealed, column_key, field)) continue;
      const said = types.get(`${column_key}/${field}`);
      if (!HASHED.includes(type))
        index.wrong([...path, 'type'], `${HASHED.join(' or ')} for ${field}, which is sealed`);
      else if (said !== undefined && said !== type)
        index.wrong([...path, 'type'], `${said} for ${field}, which is sealed, as in another index`);
      else types.set(`${column_key}/${field}`, type);
    }
}

/** Whether a path is that of a field, or of something in it. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`);
}
