import type { PhysicalIndex } from '../index-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { dynamoTopology } from '../../topology/dynamo-topology.ts';
import type { IndexCatalogue, IndexVersion } from '../../topology/index-catalogue.ts';
import type { TopologySource } from '../../topology/topology.ts';

export type WatchedIndexes = ReturnType<typeof watchIndexes>;

/** Reads the catalogue past the cache, whose stale content would move the repair past cells of a new version. */
export function watchIndexes(table: DynamoTable, ageMs: number, retiredForMs: number) {
  let latest: { readonly at: number; readonly topology: TopologySource } | undefined;

  function current(): TopologySource {
    if (!latest || performance.now() - latest.at >= ageMs)
      latest = { at: performance.now(), topology: dynamoTopology(table) };
    return latest.topology;
  }

  const isMaintained = ({ state, retired_at }: IndexVersion): boolean =>
    state !== 'retired' || (retired_at !== undefined && Date.now() - Date.parse(retired_at) < retiredForMs);

  const seen = new Map<string, ReadonlyMap<string, number>>();

  /** Throws when the table cannot be read: what is known may be too old. */
  async function look(datastore: string): Promise<readonly IndexCatalogue[]> {
    const catalogues = await current().indexes(datastore);
    const before = seen.get(datastore);
    // Unlisted versions are forgotten: one of the same name may return.
    seen.set(
      datastore,
      new Map(
        catalogues.flatMap(({ name, versions }) =>
          versions.map(({ hash }) => [`${name}/${hash}`, before?.get(`${name}/${hash}`) ?? performance.now()] as const),
        ),
      ),
    );
    return catalogues;
  }

  return {
    catalogues: look,
    seenAt: (datastore: string, name: string, hash: string): number | undefined =>
      seen.get(datastore)?.get(`${name}/${hash}`),
    datastores: (): Promise<readonly string[]> => current().datastores(),
    /** The versions to maintain: live, building, retired just now. Throws as `catalogues`. */
    async maintained(datastore: string): Promise<readonly PhysicalIndex[]> {
      const catalogues = await look(datastore);
      return catalogues.flatMap(({ name, versions }) =>
        versions.filter(isMaintained).map(({ hash, definition }) => ({ name, hash, definition })),
      );
    },
  };
}
