import { readState, setState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

export type DueTimes = ReturnType<typeof dueTimes>;

/** When rare chores are due, across runs, which follow each other each minute. */
export function dueTimes(table: DynamoTable, datastore: string) {
  const keyOf = (chore: string): string => `due#${chore}#${datastore}`;
  /** Only the run with the lease changes them. */
  const known = new Map<string, number>();
  return {
    async isDue(chore: string): Promise<boolean> {
      const due = known.get(chore) ?? Number((await readState(table, keyOf(chore)))?.['due']?.N ?? 0);
      known.set(chore, due);
      return Date.now() >= due;
    },
    /** Also forgets where it is. */
    async doneFor(chore: string, ms: number): Promise<void> {
      const due = Math.round(Date.now() + ms);
      await setState(table, keyOf(chore), { due: { N: String(due) }, places: undefined });
      known.set(chore, due);
    },
    /** Returns the positions, by group, of a run that ended before the chore was done. */
    async places(chore: string): Promise<ReadonlyMap<string, number>> {
      const places = (await readState(table, keyOf(chore)))?.['places']?.S ?? '[]';
      return new Map(JSON.parse(places) as [string, number][]);
    },
    async saveOffsets(chore: string, places: ReadonlyMap<string, number>): Promise<void> {
      await setState(table, keyOf(chore), { places: { S: JSON.stringify([...places]) } });
    },
  };
}
