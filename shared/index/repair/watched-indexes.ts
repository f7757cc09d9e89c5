import { maintainedOf, type PhysicalIndex } from '../index-table.ts';
import type { IndexCatalogue } from '../../topology/index-catalogue.ts';
import type { TopologySource } from '../../topology/topology.ts';

export type WatchedIndexes = ReturnType<typeof watchIndexes>;

/** Reads the catalogue past the cache, whose stale content would move the repair past cells of a new version. */
export function watchIndexes(
  topology: TopologySource,
  {
    pollMs,
    versionsAgeMs,
    retiredForMs,
  }: { readonly pollMs: number; readonly versionsAgeMs: number; readonly retiredForMs: number },
) {
  let latest: { readonly at: number; readonly renewed: Promise<void> } | undefined;

  async function current(ageMs: number): Promise<TopologySource> {
    if (!latest || performance.now() - latest.at >= ageMs)
      latest = { at: performance.now(), renewed: topology.renew() };
    const { renewed } = latest;
    await renewed.catch((error: unknown) => {
      if (latest?.renewed === renewed) latest = undefined;
      throw error;
    });
    return topology;
  }

  const seen = new Map<string, ReadonlyMap<string, number>>();

  /** Throws when the table cannot be read: what is known may be too old. */
  async function poll(datastore: string, ageMs: number): Promise<readonly IndexCatalogue[]> {
    const catalogues = await (await current(ageMs)).indexes(datastore);
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
    /** Returns a catalogue of at most `pollMs`. */
    catalogues: (datastore: string): Promise<readonly IndexCatalogue[]> => poll(datastore, pollMs),
    seenAt: (datastore: string, name: string, hash: string): number | undefined =>
      seen.get(datastore)?.get(`${name}/${hash}`),
    datastores: async (): Promise<readonly string[]> => (await current(pollMs)).datastores(),
    /** The versions to maintain, at most `versionsAgeMs` old: live, building, retired just now. Throws as `catalogues`. */
    maintained: async (datastore: string): Promise<readonly PhysicalIndex[]> =>
      maintainedOf(await poll(datastore, versionsAgeMs), Date.now(), retiredForMs).indexes,
  };
}
