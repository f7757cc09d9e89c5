import { readState, setState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

export type DueTimes = ReturnType<typeof dueTimes>;

/** When rare chores are due, across runs, which follow each other each minute. */
export function dueTimes(table: DynamoTable, datastore: string) {
  const keyOf = (chore: string): string => `due#${chore}#${datastore}`;
  return {
    isDue: async (chore: string): Promise<boolean> =>
      Date.now() >= Number((await readState(table, keyOf(chore)))?.['due']?.N ?? 0),
    /** Also forgets where it is. */
    async doneFor(chore: string, ms: number): Promise<void> {
      const due = { N: String(Math.round(Date.now() + ms)) };
      await setState(table, keyOf(chore), { due, places: undefined });
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
