import type { DefinitionKind, DeleteOptions, DeletedContents } from '../contract/definition-operations.ts';
import { invalidField, SchemalessError } from '../errors.ts';

/** Throws `invalid_field` unless the name was given once more. */
export function checkConfirmed(name: string, { confirm }: DeleteOptions): void {
  if (confirm !== name) throw invalidField('confirm', `the name of what is deleted, ${JSON.stringify(name)}`, confirm);
}

export function stillDefined(kind: DefinitionKind, name: string, file: string): SchemalessError {
  const [wanted, got] = ['one that the deployment does not define any more', `one that ${file} defines`];
  return new SchemalessError('still_defined', `${kind} ${name}: wanted ${wanted}, got ${got}: remove that and deploy`, {
    field: kind,
    wanted,
    got,
  });
}

export function wouldLose(kind: DefinitionKind, name: string, lost: Partial<DeletedContents>): SchemalessError {
  const has = Object.entries(lost)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
  const [wanted, got] = ['nothing that is lost with it, or force=true', has];
  return new SchemalessError('would_lose', `${kind} ${name}: wanted ${wanted}, got ${got}`, {
    field: kind,
    wanted,
    got,
    more: { lost },
  });
}
