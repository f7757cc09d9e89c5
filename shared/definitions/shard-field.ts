import { describe } from '../errors.ts';
import type { FieldType } from './definitions.ts';
import type { LocatedField } from './index-columns.ts';
import type { Problems } from './problems.ts';

/** Why a type spreads badly; the others are allowed. */
const REFUSED: Partial<Readonly<Record<FieldType, string>>> = {
  boolean: 'all entries would be in two shards',
  number: 'whether two fractions are equal is not to be relied on',
};

/** Names of what has a few values, each of which most rows would share. */
const FEW_VALUES = /^(?:is_\w+|has_\w+|(?:\w+_)?(?:status|state|type|kind|gender|currency|country|country_code|city|language))$/iu;

/**
 * Checks the first field: its value says in which shard an entry is, and every query names one value of it. Ids of which
 * there are many, as UUIDs, spread entries evenly; with few values, a few shards hold everything, and each query
 * looks through much of it.
 *
 * @param field undefined where there is none, which is a problem already
 */
export function checkShardField(field: LocatedField | undefined, problems: Problems, warnings: Problems): void {
  if (!field) return;
  const why = REFUSED[field.type];
  if (why !== undefined) {
    problems.add(field.line, `${field.path}.type: wanted UUID, string, integer or datetime for the first field, the shard field, got ${describe(field.type)}: ${why}. Put a field first that has many values, such as an id`);
  } else if (field.type === 'string' && FEW_VALUES.test(field.field.split('.').at(-1) ?? '')) {
    warnings.add(field.line, `${field.path}: the first field, the shard field, should have many values, such as an id, and ${describe(field.field)} sounds like few: entries would crowd in a few shards`);
  }
}
