import type { PhysicalIndex } from '../index-table.ts';
import type { SqlClient } from '../../sql/client.ts';
import { selectDivided } from '../../sql/select-divided.ts';
import { countEntries, countPage, toCountedPage, toCounts, type CountedPage } from '../statements/count-entries.ts';
import { byGroup, requireDatastore } from '../../access/groups.ts';
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
/** Entries read of a table by a statement for eight, and for one. */
const ENTRIES = { first: 5000, more: 10_000 };
/** Counting rests for this many times its duration. */
const REST = 100;

/**
 * Counts the live entries of each shard's table exactly: the servers' estimates may be a day old. Statements are
 * bounded and large indexes counted rarely: a hundredth of the time at most. Leaves out refused tables; if a group
 * cannot be asked the figure stays.
 */
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
  const counts = await Promise.all(
    [
      ...byGroup(
        topology,
        topology.homes.map((_, shard) => ({ shard })),
      ),
    ].map(async ([group, shards]) => {
      const client = await context.groups.client(group);
      const ofGroup: number[] = [];
      for (let start = 0; start < shards.length; start += TABLES_A_STATEMENT) {
        const page = shards.slice(start, start + TABLES_A_STATEMENT).map(({ shard }) => shard);
        const { rows } = await selectDivided(
          client,
          page.map((shard, item) => countEntries(datastore, shard, index, ENTRIES.first, item)),
          roleOf(client),
        );
        for (const [item, count] of toCounts(rows))
          ofGroup.push(count < ENTRIES.first ? count : await countAll(client, datastore, page[item] ?? 0, index));
      }
      return ofGroup;
    }),
  );
  const all = counts.flat();
  const total = all.reduce((sum, count) => sum + count, 0);
  return total === 0 ? 0 : Math.max(...all) / total;
}

async function countAll(client: SqlClient, datastore: string, shard: number, index: PhysicalIndex): Promise<number> {
  let live = 0;
  let page: CountedPage | undefined;
  do {
    page = toCountedPage(
      await client.select(countPage(datastore, shard, index, page, ENTRIES.more), roleOf(client)),
      index,
    );
    live += page?.live ?? 0;
  } while (page && page.rows === ENTRIES.more);
  return live;
}

function roleOf({ abilities }: SqlClient): 'reader' | 'writer' {
  return abilities.readsFromReaders ? 'reader' : 'writer';
}
