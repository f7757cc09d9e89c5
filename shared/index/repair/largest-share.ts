import type { PhysicalIndex } from '../index-table.ts';
import { selectDivided } from '../../sql/select-divided.ts';
import { countPage, toCountedPages, type CountFrom } from '../statements/count-entries.ts';
import { requireDatastore, shardsByGroup } from '../../access/groups.ts';
import { writeLargestShare } from '../../topology/index-now.ts';
import type { DueTimes } from './due-times.ts';
import type { RepairWork } from './repair-work.ts';

export type LargestShares = ReturnType<typeof largestShares>;

const TABLES_A_STATEMENT = 8;
/** Entries that a statement reads of each table. */
const ENTRIES = 5000;
/** Counting rests for this many times its duration. */
const REST = 100;
/** How long a count may take: the time limit of a run, which ends its other work after a minute. */
const LONGEST_MS = 15 * 60_000;

/** Counts the entries of each shard's table exactly, in a hundredth of the time: estimates may be a day old. */
export function largestShares(work: RepairWork, due: DueTimes) {
  const { datastore, settings, topologyTable } = work;

  return {
    /** After a version became live; the catalogue in hand may not list it yet. */
    countSoon: (): Promise<void> => due.doneFor('counts', settings.pollMs),
    async poll(): Promise<void> {
      if (!(await due.isDue('counts'))) return;
      // Set first: the next run comes within a minute, and must not count as well.
      await due.doneFor('counts', LONGEST_MS);
      const start = performance.now();
      const failures: unknown[] = [];
      for (const { name, versions } of await work.indexes.catalogues(datastore)) {
        const live = versions.find(({ state }) => state === 'live');
        if (!live) continue;
        await largestShare(work, { name, ...live })
          .then((share) => writeLargestShare(topologyTable, { datastore, name }, share))
          .catch((error: unknown) => void failures.push(error));
      }
      await due.doneFor('counts', Math.max(settings.countEveryMs, (performance.now() - start) * REST));
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
