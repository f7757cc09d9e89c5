import { expect, it } from 'vitest';
import { createIndexTable, maintainedIndexes, RETIRED_FOR_MS } from '../../../shared/index/index-table.ts';
import type { IndexCatalogue } from '../../../shared/topology/index-catalogue.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { indexOn } from '../../support/index-on.ts';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');
const definition = indexOn('by_city', { city: 'string' });

function topologyOf(...versions: IndexCatalogue['versions']): TopologySource {
  const catalogues = [{ name: 'by_city', versions }];
  return { indexes: async () => catalogues } as Partial<TopologySource> as TopologySource;
}

const retired = { hash: 'b', state: 'retired', definition, retired_at: new Date(NOW).toISOString() } as const;
const live = { hash: 'a', state: 'live', definition } as const;

it('a version that was replaced is maintained for a while, and all stay the same objects', async () => {
  const topology = topologyOf(live, retired);
  const at = (ms: number) => maintainedIndexes(topology, 'trips', NOW + ms);
  const first = await at(0);
  expect(first.map(({ hash }) => hash)).toEqual(['a', 'b']);
  const last = await at(RETIRED_FOR_MS - 1);
  expect(last).toHaveLength(2);
  for (const [position, index] of last.entries()) expect(index).toBe(first[position]);
  expect((await at(RETIRED_FOR_MS)).map(({ hash }) => hash)).toEqual(['a']);
});

it('one whose time of retirement is unknown is not maintained', async () => {
  const { retired_at: _, ...unknown } = retired;
  const indexes = await maintainedIndexes(topologyOf(unknown, live), 'trips', NOW);
  expect(indexes.map(({ hash }) => hash)).toEqual(['a']);
});

it('a field of an index ends its comment in no table, whatever it is called', () => {
  const field = String.raw`a\', x INT) -- `;
  const definition = { name: 'by_a', fields: [{ field, type: 'string', column_key: 'BASE' }], keys: [] } as const;
  expect(createIndexTable('trips_0001', { hash: '1a2b3c4d', definition }).sql).toContain(
    String.raw`COMMENT 'a\\\', x INT) -- ', row_key`,
  );
});
