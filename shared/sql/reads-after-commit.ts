import type { ReadAfterCommit, SqlRow, Statement } from './client.ts';
import { unionOf } from './union.ts';

/** The reads behind a transaction, in one SELECT or few. */
export interface ReadsAfterCommit {
  readonly selects: readonly Statement[];
  rowsOf(results: readonly (readonly SqlRow[])[]): readonly (readonly SqlRow[] | undefined)[];
}

interface Wanted {
  readonly place: number;
  readonly read: ReadAfterCommit;
}

/** Branches of one SELECT: 1,000 took 256 ms as one and 21 ms in hundreds (MySQL; MariaDB 47 and 13). */
const MOST_BRANCHES = 100;

export function readsAfterCommit(statements: readonly Statement[]): ReadsAfterCommit {
  const unions: Wanted[][] = [];
  for (const [place, { readAfter: read }] of statements.entries()) {
    if (!read) continue;
    const last = unions.at(-1);
    const branches = last?.reduce((sum, { read: { branches } }) => sum + branches, read.branches) ?? 0;
    if (last && branches <= MOST_BRANCHES) last.push({ place, read });
    else unions.push([{ place, read }]);
  }
  return {
    selects: unions.map((wanted) => unionOf(wanted.map(({ read }, item) => read.from(item)))),
    rowsOf(results) {
      const rows: (readonly SqlRow[] | undefined)[] = statements.map(() => undefined);
      for (const [position, wanted] of unions.entries()) divide(results[position] ?? [], wanted, rows);
      return rows;
    },
  };
}

/** Gives each read its own rows, which begin with its place in the union. */
function divide(found: readonly SqlRow[], wanted: readonly Wanted[], rows: (readonly SqlRow[] | undefined)[]): void {
  const byItem = Map.groupBy(found, ([item]) => Number(item));
  for (const [item, { place }] of wanted.entries()) rows[place] = byItem.get(item) ?? [];
}
