import { verifyIndex } from '../../../shared/index/verify.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import type { GroupAccess, OpenStore } from '../../support/store-access.ts';
import { compareTables, KINDS, noProblems, problemsText, total, type Problems } from './compare-tables.ts';
import { followerLag } from '../../../shared/follow/follower-lag.ts';
import { pendingMarks } from '../../../shared/index/repair/pending-marks.ts';
import { REPAIR_FOLLOWER } from '../../../shared/index/repair/repair-follower.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import { until } from '../../support/until.ts';
import type { RunWorld } from '../../support/run-world.ts';

export interface Judged {
  /** By `verifyIndex`. */
  readonly problems: Problems;
  /** By the tables themselves, compared with plain SQL past the store. */
  readonly inTables: Problems;
  /** That there should be. */
  readonly entries: number;
}

/** Compares indexes with the cells, in both ways. Nothing may be written meanwhile. */
export async function judge(
  store: OpenStore,
  groups: readonly GroupAccess[],
  indexes: readonly PhysicalIndex[],
): Promise<Judged> {
  const [problems, inTables] = [noProblems(), noProblems()];
  let entries = 0;
  for (const index of indexes) {
    const verified = await verifyIndex(store.context, store.name, index, { settleMs: 0 });
    for (const error of verified.failed.values()) throw error;
    for (const kind of KINDS) problems[kind] += verified.found[kind];
    const compared = await compareTables(groups, store.name, store.datastore.shards, index);
    for (const kind of KINDS) inTables[kind] += compared.problems[kind];
    entries += compared.wanted;
  }
  return { problems, inTables, entries };
}

/** Every version that answers queries. */
export async function liveIndexes({ context, name }: OpenStore): Promise<readonly PhysicalIndex[]> {
  context.topology.refresh();
  const catalogues = await context.topology.indexes(name);
  return catalogues.flatMap((catalogue) =>
    catalogue.versions
      .filter(({ state }) => state === 'live')
      .map(({ hash, definition }) => ({ name: catalogue.name, hash, definition })),
  );
}

/** The worse of both ways to look. */
export function figureOf({ problems, inTables }: Judged): string {
  return problemsText(total(inTables) > total(problems) ? inTables : problems);
}

export function isClean({ problems, inTables }: Judged): boolean {
  return total(problems) + total(inTables) === 0;
}

const POLL_MS = 250;
const PATIENCE_MS = 90_000;

/**
 * Waits until every buffered write is on its primary, and, where one runs, until the repair has seen every cell and
 * owes no group anything.
 */
export async function untilQuiet(
  store: OpenStore,
  isRepaired: boolean,
  { signal, say }: Pick<RunWorld, 'signal' | 'say'>,
): Promise<void> {
  const start = performance.now();
  const { rows, seconds } = await untilBuffersEmpty(store.datastore, PATIENCE_MS, signal);
  if (rows > 0) throw new Error(`${rows} writes are left in the buffer`);
  if (!isRepaired) return;
  await until('the repair has caught up', () => isCaughtUp(store), {
    pollMs: POLL_MS,
    patienceMs: start + 2 * PATIENCE_MS - performance.now(),
    signal,
  });
  say(
    `buffers empty after ${seconds.toFixed(1)} s, the repair caught up after ${((performance.now() - start) / 1000).toFixed(1)} s`,
  );
}

async function isCaughtUp({ context, name, stateTable }: OpenStore): Promise<boolean> {
  const lag = await followerLag(stateTable, context, { name: REPAIR_FOLLOWER, datastore: name });
  // A shard without cells may have no offset.
  if (lag.some(({ offset = 0, head }) => head === undefined || offset !== head)) return false;
  const marks = pendingMarks(stateTable, name);
  const pending = await Promise.all((await context.groups.names()).map((group) => marks.read(group, lag.length)));
  return pending.every((shards) => shards.length === 0);
}
