import { readState, updateState } from '../dynamo/state-table.ts';
import type { Lease } from '../dynamo/lease.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DrainProgress } from './drain-holder.ts';

export interface ProgressStore {
  read(group: string): Promise<DrainProgress | undefined>;
  write(group: string, lease: Pick<Lease, 'token'>, progress: DrainProgress): Promise<void>;
}

/** Keeps an item for each group. A lost one loses no write: the next drain begins at the first rows. */
export function progressItems(table: DynamoTable): ProgressStore {
  const keyOf = (group: string): string => `drain#${group}`;
  return {
    async read(group) {
      const text = (await readState(table, keyOf(group)))?.['progress']?.S;
      return text === undefined ? undefined : (JSON.parse(text) as DrainProgress);
    },
    async write(group, { token }, progress) {
      await updateState(table, {
        key: keyOf(group),
        update: 'SET #progress = :progress, #token = :token',
        condition: 'attribute_not_exists(#token) OR #token <= :token',
        values: { ':progress': { S: JSON.stringify(progress) }, ':token': { N: String(token) } },
      });
    },
  };
}
