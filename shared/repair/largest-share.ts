import { countEntries, toCounts } from '../sql/statements/count-entries.ts';
import { byGroup } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import { readIndexProgress } from '../topology/index-progress.ts';
import type { DueTimes } from './due-times.ts';
import type { RepairWork } from './repair-work.ts';

/** The largest shard's share of each index's entries, as last counted. */
export interface LargestShares {
  /** 0 to 1; null while nobody knows. */
  of(index: string): Promise<number | null>;
  /** After a version became live. */
  countSoon(): Promise<void>;
  /** Counts where it is time to. */
  look(): Promise<void>;
}

/** Tables counted with one statement: a statement has four seconds. */
const TABLES_A_STATEMENT = 8;
/** Counting rests for so many times as long as it took. */
const REST = 100;

/**
 * Counts the live entries of each shard's table, exactly: the servers' own estimates may be a day old. Large indexes
 * are counted rarely, so that at most a hundredth of the time is spent on it; where a count takes too long, the figure
 * stays unknown, or as it was.
 */
export function largestShares(work: RepairWork, due: DueTimes): LargestShares {
  const { datastore, settings, topologyTable } = work;
  const shares = new Map<string, number | null>();

  return {
    async of(index) {
      // As the run before knew it.
      if (!shares.has(index)) shares.set(index, (await readIndexProgress(topologyTable, datastore, index))?.largest_share ?? null);
      return shares.get(index) ?? null;
    },
    // Not at once: the catalogue in hand may not list as live yet what is live now.
    countSoon: () => due.doneFor('counts', 2 * settings.versionsAgeMs),
    async look() {
      if (!(await due.isDue('counts'))) return;
      // Now already: an index that cannot be counted is not tried again at once.
      await due.doneFor('counts', settings.countEveryMs);
      const start = performance.now();
      for (const { name, versions } of await work.indexes.catalogues(datastore)) {
        const live = versions.find(({ state }) => state === 'live');
        if (live) shares.set(name, await largestShare(work, name, live.hash));
      }
      const rest = (performance.now() - start) * REST;
      if (rest > settings.countEveryMs) await due.doneFor('counts', rest);
    },
  };
}

async function largestShare({ context, datastore }: RepairWork, index: string, hash: string): Promise<number> {
  const topology = await requireDatastore(context.topology, datastore);
  const counts = await Promise.all(
    [...byGroup(topology, topology.places.map((_, shard) => ({ shard })))].map(async ([group, shards]) => {
      const client = await context.groups.client(group);
      const ofGroup: number[] = [];
      for (let start = 0; start < shards.length; start += TABLES_A_STATEMENT) {
        const page = shards.slice(start, start + TABLES_A_STATEMENT).map(({ shard }) => shard);
        ofGroup.push(...toCounts(await client.select(countEntries(datastore, page, { name: index, hash }), client.abilities.readsFromReaders ? 'reader' : 'writer')));
      }
      return ofGroup;
    }),
  );
  const all = counts.flat();
  const total = all.reduce((sum, count) => sum + count, 0);
  return total === 0 ? 0 : Math.max(...all) / total;
}
