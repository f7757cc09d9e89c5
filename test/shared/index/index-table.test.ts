import { expect, it } from 'vitest';
import { createIndexTable } from '../../../shared/index/index-table.ts';

it('a field of an index ends its comment in no table, whatever it is called', () => {
  const field = String.raw`a\', x INT) -- `;
  const definition = { name: 'by_a', fields: [{ field, type: 'string', column_key: 'BASE' }], keys: [] } as const;
  expect(createIndexTable('`trips_0001`', 'by_a', definition)).toContain(
    String.raw`COMMENT 'a\\\', x INT) -- ', row_key`,
  );
});
