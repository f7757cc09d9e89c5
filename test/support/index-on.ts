import type { IndexDefinition, IndexField } from '../../shared/definitions/definitions.ts';

/**
 * An index of fields of BASE, the shard field first: `indexOn('by_city', { city: 'string' })`.
 *
 * @param keys further keys, of these fields
 */
export function indexOn(
  name: string,
  fields: Readonly<Record<string, IndexField['type']>>,
  keys: IndexDefinition['keys'] = [],
): IndexDefinition {
  return { name, fields: Object.entries(fields).map(([field, type]) => ({ field, type, column_key: 'BASE' })), keys };
}
