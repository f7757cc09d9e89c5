import type { IndexStatus } from '../api/indexes.ts';
import type { TypedColumn } from './manifest.ts';

const PLAIN_COLUMNS = [
  'shard',
  'added_id',
  'row_key',
  'column_name',
  'ref_key',
  'created_at',
  'erased',
  'body',
] as const;

/**
 * Returns a column for each indexed field: `fare.total` is `fare_total`. The column name comes first if names collide.
 * Columns `given` by earlier parts keep their names and places, so that one table holds all parts.
 */
export function typedColumns(
  indexes: readonly Pick<IndexStatus, 'fields'>[],
  given: readonly TypedColumn[] = [],
): readonly TypedColumn[] {
  const known = new Set(given.map(({ field, type, column_name }) => `${field} ${type} ${column_name}`));
  const fields = new Map(
    indexes
      .flatMap((index) => index.fields)
      .map((field) => [`${field.field} ${field.type} ${field.column_key}`, field] as const)
      .filter(([key]) => !known.has(key)),
  );
  const taken = new Map<string, number>([...PLAIN_COLUMNS, ...given.map(({ name }) => name)].map((name) => [name, 1]));
  const used = new Set(taken.keys());
  for (const { field } of fields.values()) taken.set(named(field), (taken.get(named(field)) ?? 0) + 1);
  const fresh = [...fields.values()].map(({ field, type, column_key }) => {
    const long = named(`${column_key}_${field}`);
    let name = (taken.get(named(field)) ?? 0) > 1 ? long : named(field);
    for (let position = 2; used.has(name); position += 1) name = `${long}_${position}`;
    used.add(name);
    return { name, field, type, column_name: column_key };
  });
  return [...given, ...fresh];
}

/** Names of Athena: letters, digits and underscores; it makes no difference of cases. */
function named(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9_]/gu, '_');
}
