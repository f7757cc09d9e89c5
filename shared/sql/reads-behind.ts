import type { ReadBehind, SqlRow, Statement } from './client.ts';
import { unionOf } from './union.ts';

/** What is read behind a transaction: for all of its statements that want something of a kind, with one SELECT. */
export interface ReadsBehind {
  readonly selects: readonly Statement[];
  /**
   * @param results of the SELECTs
   * @returns by the places of the statements, the rows of each that wanted some
   */
  rowsOf(results: readonly (readonly SqlRow[])[]): readonly (readonly SqlRow[] | undefined)[];
}

/** A read and the statement that wants it. */
interface Wanted {
  readonly place: number;
  readonly read: ReadBehind;
}

export function readsBehind(statements: readonly Statement[]): ReadsBehind {
  const wanted: Wanted[] = [];
  for (const [place, { thenSelect: read }] of statements.entries()) if (read) wanted.push({ place, read });
  const kinds = [...Map.groupBy(wanted, ({ read }) => read.kind).values()];
  return {
    selects: kinds.map((ofKind) => {
      let first = 0;
      return unionOf(
        ofKind.map(({ read }) => {
          const select = read.from(first);
          first += read.items;
          return select;
        }),
      );
    }),
    rowsOf(results) {
      const rows: (readonly SqlRow[] | undefined)[] = statements.map(() => undefined);
      for (const [position, ofKind] of kinds.entries()) divide(results[position] ?? [], ofKind, rows);
      return rows;
    },
  };
}

/** Gives each its own rows, whose items are numbered from 0 on again. */
function divide(found: readonly SqlRow[], ofKind: readonly Wanted[], rows: (readonly SqlRow[] | undefined)[]): void {
  const [only] = ofKind;
  if (only && ofKind.length === 1) {
    rows[only.place] = found;
    return;
  }
  const owners: { readonly first: number; readonly own: SqlRow[] }[] = [];
  for (const { place, read } of ofKind) {
    const owner = { first: owners.length, own: [] };
    rows[place] = owner.own;
    for (let item = 0; item < read.items; item += 1) owners.push(owner);
  }
  for (const row of found) {
    const item = Number(row[0]);
    const owner = owners[item];
    if (!owner) throw new Error(`a row of item ${item} of ${owners.length}`);
    owner.own.push(row.with(0, item - owner.first));
  }
}
