import type { PhysicalIndex } from '../index-table.ts';
import { selectDivided } from '../../sql/select-divided.ts';
import { countPage, toCountedPages, type CountFrom } from '../statements/count-entries.ts';
import { requireDatastore, shardsByGroup } from '../../access/groups.ts';
import { readIndexProgress } from '../../topology/index-progress.ts';
import type { DueTimes } from './due-times.ts';
import type { RepairWork } from './repair-work.ts';

export interface LargestShares {
  of(index: string): Promise<number | null>;
  /** Schedules a count after a version became live. */
  countSoon(): Promise<void>;
  look(): Promise<void>;
}

const TABLES_A_STATEMENT = 8;
/** Entries that a statement reads of each table. */
const ENTRIES = 5000;
/** Counting rests for this many times its duration. */
const REST = 100;

/** Counts the entries of each shard's table exactly, in a hundredth of the time: estimates may be a day old. */
export function largestShares(work: RepairWork, due: DueTimes): LargestShares {
  const { datastore, settings, topologyTable } = work;
  const shares = new Map<string, number | null>();

  return {
    async of(index) {
      if (!shares.has(index))
        shares.set(index, (await readIndexProgress(topologyTable, { datastore, name: index }))?.largest_share ?? null);
      return shares.get(index) ?? null;
    },
    // The catalogue in hand may not list the live version yet.
    countSoon: () => due.doneFor('counts', 2 * settings.versionsAgeMs),
    async look() {
      if (!(await due.isDue('counts'))) return;
      // Set first: an index that cannot be counted is not tried again at once.
      await due.doneFor('counts', settings.countEveryMs);
      const start = performance.now();
      const failures: unknown[] = [];
      for (const { name, versions } of await work.indexes.catalogues(datastore)) {
        const live = versions.find(({ state }) => state === 'live');
        if (!live) continue;
        await largestShare(work, { name, ...live }).then(
          (share) => shares.set(name, share),
          (error: unknown) => failures.push(error),
        );
      }
      const rest = (performance.now() - start) * REST;
      if (rest > settings.countEveryMs) await due.doneFor('counts', rest);
      if (failures.length > 0) throw failures[0];
    },
  };
}

async function largestShare({ context, datastore }: RepairWork, index: PhysicalIndex): Promise<number> {
  const topology = await requireDatastore(context.topology, datastore);
  const counts = new Map<number, number>();
  await Promise.all(
    [...shardsByGroup(topology)].map(async ([group, shards]) => {
      const client = await context.groups.client(group);
      const role = client.abilities.readsFromReaders ? 'reader' : 'writer';
      let open = shards.map((shard): CountFrom => ({ shard, after: undefined }));
      while (open.length > 0) {
        const asked = open.slice(0, TABLES_A_STATEMENT);
        const parts = asked.map((from, item) => countPage(datastore, index, from, ENTRIES, item));
        const { rows, refused } = await selectDivided(client, parts, role);
        const pages = toCountedPages(rows, index);
        for (const [item, { live }] of pages) {
          const { shard } = asked[item] as CountFrom;
          counts.set(shard, (counts.get(shard) ?? 0) + live);
        }
        for (const item of refused.keys()) counts.delete(asked[item]?.shard ?? -1);
        const further = asked.flatMap(({ shard }, item): CountFrom[] => {
          const page = pages.get(item);
          return page && page.rows === ENTRIES ? [{ shard, after: page }] : [];
        });
        open = [...further, ...open.slice(TABLES_A_STATEMENT)];
      }
    }),
  );
  const all = [...counts.values()];
  const total = all.reduce((sum, count) => sum + count, 0);
  return total === 0 ? 0 : Math.max(...all) / total;
}
