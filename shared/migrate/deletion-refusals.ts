import type { DeleteOptions } from '../api/definitions.ts';
import { invalidField, SchemalessError } from '../errors.ts';

/** Throws `invalid_field` unless the name was given once more. */
export function checkConfirmed(name: string, { confirm }: DeleteOptions): void {
  if (confirm !== name) throw invalidField('confirm', `the name of what is deleted, ${JSON.stringify(name)}`, confirm);
}

export function stillDefined(kind: 'index' | 'trigger', name: string, file: string): SchemalessError {
  const [wanted, got] = ['one that the deployment does not define any more', `one that ${file} defines`];
  return new SchemalessError('still_defined', `${kind} ${name}: wanted ${wanted}, got ${got}: remove that and deploy`, {
    field: kind,
    wanted,
    got,
  });
}
