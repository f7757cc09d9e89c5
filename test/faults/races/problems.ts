import { verifyIndex } from '../../../shared/index/verify.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import type { GroupAccess, OpenStore } from '../../support/store-access.ts';
import { compareTables } from './compare-tables.ts';
import { KINDS, noProblems, problemsText, total, type Problems } from './problem-counts.ts';

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
