import { ERASABLE_NAME_BYTES } from '../address.ts';
import type { DefinitionFile } from './definition-file.ts';
import type { datastoreYaml } from './yaml-schemas.ts';

type DatastoreFile = DefinitionFile<typeof datastoreYaml>;

/** Checks what depends on several values of a datastore. */
export function checkDatastore(file: DatastoreFile): void {
  checkRetention(file);
  checkSealed(file);
}

/** Checks that each column has one rule, which says something, and that its cells can be erased. */
function checkRetention(datastore: DatastoreFile): void {
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

function checkSealed(file: DatastoreFile): void {
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

/** Whether a path is that of a field, or of something in it. */
export function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`);
}
