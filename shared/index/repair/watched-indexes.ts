import { maintainedOf, type PhysicalIndex } from '../index-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { dynamoTopology } from '../../topology/dynamo-topology.ts';
import type { IndexCatalogue } from '../../topology/index-catalogue.ts';
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

  const seen = new Map<string, ReadonlyMap<string, number>>();

  /** Throws when the table cannot be read: what is known may be too old. */
  async function poll(datastore: string): Promise<readonly IndexCatalogue[]> {
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
    catalogues: poll,
    seenAt: (datastore: string, name: string, hash: string): number | undefined =>
      seen.get(datastore)?.get(`${name}/${hash}`),
    datastores: (): Promise<readonly string[]> => current().datastores(),
    /** The versions to maintain: live, building, retired just now. Throws as `catalogues`. */
    maintained: async (datastore: string): Promise<readonly PhysicalIndex[]> =>
      maintainedOf(await poll(datastore), Date.now(), retiredForMs).indexes,
  };
}
