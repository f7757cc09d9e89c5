import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { TopologySource } from '../topology/topology.ts';
import type { PhysicalIndex } from './index-table.ts';

/**
 * A version of an index that was replaced is still kept for this time: instances that have not heard of the change yet
 * go on asking it. Twice the age that a cached catalogue may reach.
 */
export const RETIRED_FOR_MS = 120_000;

/** The versions of a datastore's indexes that writes have to keep: live, being built, or replaced just now. */
export async function maintainedIndexes(
  topology: TopologySource,
  datastore: string,
  now: number = Date.now(),
): Promise<readonly PhysicalIndex[]> {
  const catalogues = await topology.indexes(datastore);
  const known = lasting.get(catalogues);
  if (known) return known;
  const maintained = maintainedOf(catalogues, now);
  if (!catalogues.some(({ versions }) => versions.some(({ state }) => state === 'retired')))
    lasting.set(catalogues, maintained);
  return maintained;
}

/** By the catalogues that the topology gives until it is read again; where nothing is retired, time changes nothing. */
const lasting = new WeakMap<readonly IndexCatalogue[], readonly PhysicalIndex[]>();

function maintainedOf(catalogues: readonly IndexCatalogue[], now: number): readonly PhysicalIndex[] {
  return catalogues.flatMap(({ name, versions }) =>
    versions
      .filter(
        ({ state, retired_at }) =>
          state !== 'retired' || (retired_at !== undefined && now - Date.parse(retired_at) < RETIRED_FOR_MS),
      )
      .map(({ hash, definition }) => ({ name, hash, definition })),
  );
}
