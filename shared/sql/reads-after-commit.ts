import type { ReadAfterCommit, SqlRow, Statement } from './client.ts';
import { unionOf } from './union.ts';

/** The reads behind a transaction, in one SELECT or few. */
export interface ReadsAfterCommit {
  readonly selects: readonly Statement[];
  /** Returns the rows of each statement's reads; undefined for a statement without any. */
  rowsOf(results: readonly (readonly SqlRow[])[]): readonly (readonly (readonly SqlRow[])[] | undefined)[];
}

/** Branches of one SELECT: 1,000 took 256 ms as one and 21 ms in hundreds (MySQL; MariaDB 47 and 13). */
const MOST_BRANCHES = 100;

export function readsAfterCommit(statements: readonly Statement[]): ReadsAfterCommit {
  const unions: ReadAfterCommit[][] = [];
  for (const read of statements.flatMap(({ readAfter = [] }) => readAfter)) {
    const last = unions.at(-1);
    const branches = last?.reduce((sum, { branches }) => sum + branches, read.branches) ?? 0;
    if (last && branches <= MOST_BRANCHES) last.push(read);
    else unions.push([read]);
  }
  return {
    selects: unions.map((reads) => unionOf(reads.map((read, item) => read.from(item)))),
    rowsOf(results) {
      const rows = unions.flatMap((reads, position) => divide(results[position] ?? [], reads.length));
      let at = 0;
      return statements.map(({ readAfter }) => readAfter && rows.slice(at, (at += readAfter.length)));
    },
  };
}

/** Gives each read of a union its rows, which begin with its place. */
function divide(found: readonly SqlRow[], reads: number): readonly (readonly SqlRow[])[] {
  const byItem = Map.groupBy(found, ([item]) => Number(item));
  return Array.from({ length: reads }, (_, item) => byItem.get(item) ?? []);
}
