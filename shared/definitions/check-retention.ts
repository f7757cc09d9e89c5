import { ERASABLE_NAME_BYTES } from '../address.ts';
import type { DefinitionFile } from './definition-file.ts';
import type { datastoreYaml } from './yaml-schemas.ts';

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
