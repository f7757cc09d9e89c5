import { expect, it } from 'vitest';
import { definitionChanges } from '../../../../infra/local/stack/definition-changes.ts';
import type { DatastoreDefinition } from '../../../../shared/definitions/definitions.ts';

const index = (name: string, ...fields: string[]): DatastoreDefinition['indexes'][number] => ({
  name,
  fields: fields.map((field) => ({ field, type: 'string', column_key: 'ORDER' })),
  keys: [],
});
const store = (name: string, ...indexes: DatastoreDefinition['indexes']): DatastoreDefinition => ({
  name,
  shards: 4,
  indexes,
  triggers: [],
});

it('tells what was added, what is otherwise, and what is gone', () => {
  const before = [store('shop', index('by_customer', 'customer'), index('by_city', 'city')), store('old')];
  const after = [store('shop', index('by_customer', 'customer', 'city'), index('by_day', 'day')), store('new')];
  expect(definitionChanges(before, after)).toEqual([
    'datastore new added',
    'datastore old gone',
    'index by_customer of shop changed',
    'index by_day of shop added',
    'index by_city of shop gone',
  ]);
  expect(definitionChanges(after, structuredClone(after))).toEqual([]);
});
