import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

/** When rare chores are due, across runs, which follow each other each minute. */
export interface DueTimes {
  isDue(chore: string): Promise<boolean>;
  doneFor(chore: string, ms: number): Promise<void>;
}

export function dueTimes(table: DynamoTable, datastore: string): DueTimes {
  const keyOf = (chore: string): string => `due#${chore}#${datastore}`;
  return {
    isDue: async (chore) => Date.now() >= Number((await readState(table, keyOf(chore)))?.['due']?.N ?? 0),
    async doneFor(chore, ms) {
      await updateState(table, {
        key: keyOf(chore),
        update: 'SET #due = :due',
        values: { ':due': { N: String(Math.round(Date.now() + ms)) } },
      });
    },
  };
}
