import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

/** When rare chores are due, across runs, which follow each other each minute. */
export interface DueTimes {
  isDue(chore: string): Promise<boolean>;
  /** Also forgets where it is. */
  doneFor(chore: string, ms: number): Promise<void>;
  /** Where a run left off that ended before the chore was done, by group. */
  places(chore: string): Promise<ReadonlyMap<string, number>>;
  keepPlaces(chore: string, places: ReadonlyMap<string, number>): Promise<void>;
}

export function dueTimes(table: DynamoTable, datastore: string): DueTimes {
  const keyOf = (chore: string): string => `due#${chore}#${datastore}`;
  return {
    isDue: async (chore) => Date.now() >= Number((await readState(table, keyOf(chore)))?.['due']?.N ?? 0),
    async doneFor(chore, ms) {
      await updateState(table, {
        key: keyOf(chore),
        update: 'SET #due = :due REMOVE #places',
        values: { ':due': { N: String(Math.round(Date.now() + ms)) } },
      });
    },
    async places(chore) {
      const places = (await readState(table, keyOf(chore)))?.['places']?.S ?? '[]';
      return new Map(JSON.parse(places) as [string, number][]);
    },
    async keepPlaces(chore, places) {
      const values = { ':places': { S: JSON.stringify([...places]) } };
      await updateState(table, { key: keyOf(chore), update: 'SET #places = :places', values });
    },
  };
}
