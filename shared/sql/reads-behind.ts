import type { ReadBehind, SqlRow, Statement } from './client.ts';
import { unionOf } from './union.ts';

/** The reads behind a transaction, in one SELECT or few. */
export interface ReadsBehind {
  readonly selects: readonly Statement[];
  rowsOf(results: readonly (readonly SqlRow[])[]): readonly (readonly SqlRow[] | undefined)[];
}

interface Wanted {
  readonly place: number;
  readonly read: ReadBehind;
}

/** Branches of one SELECT: 1,000 took 256 ms as one and 21 ms in hundreds (MySQL; MariaDB 47 and 13). */
const MOST_BRANCHES = 100;

export function readsBehind(statements: readonly Statement[]): ReadsBehind {
  const unions: Wanted[][] = [];
  for (const [place, { thenSelect: read }] of statements.entries()) {
    if (!read) continue;
    const last = unions.at(-1);
    const branches = last?.reduce((sum, { read: { branches } }) => sum + branches, read.branches) ?? 0;
    if (last && branches <= MOST_BRANCHES) last.push({ place, read });
    else unions.push([{ place, read }]);
  }
  return {
    selects: unions.map(unionOfReads),
    rowsOf(results) {
      const rows: (readonly SqlRow[] | undefined)[] = statements.map(() => undefined);
      for (const [position, wanted] of unions.entries()) divide(results[position] ?? [], wanted, rows);
      return rows;
    },
  };
}

function unionOfReads(wanted: readonly Wanted[]): Statement {
  let first = 0;
  return unionOf(
    wanted.map(({ read }) => {
      const select = read.from(first);
      first += read.items;
      return select;
    }),
  );
}

function divide(found: readonly SqlRow[], wanted: readonly Wanted[], rows: (readonly SqlRow[] | undefined)[]): void {
  const [only] = wanted;
  if (only && wanted.length === 1) {
    rows[only.place] = found;
    return;
  }
  const owners: { readonly first: number; readonly own: SqlRow[] }[] = [];
  for (const { place, read } of wanted) {
    const owner = { first: owners.length, own: [] };
    rows[place] = owner.own;
    for (let item = 0; item < read.items; item += 1) owners.push(owner);
  }
  for (const row of found) {
    const item = Number(row[0]);
    const owner = owners[item];
    owner?.own.push(row.with(0, item - owner.first));
  }
}
