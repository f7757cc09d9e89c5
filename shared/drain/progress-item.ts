import { readState, updateState } from '../dynamo/state-table.ts';
import type { Lease } from '../dynamo/lease.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DrainProgress } from './drain-holder.ts';

/** Where the drains of groups are kept for who goes on with them. */
export interface ProgressStore {
  /** Undefined where none was kept. */
  read(group: string): Promise<DrainProgress | undefined>;
  /** Nothing where a later holder of the lease has written already. */
  write(group: string, lease: Pick<Lease, 'token'>, progress: DrainProgress): Promise<void>;
}

/**
 * An item of the state table for each group. Losing one loses no write: who finds none begins at the first rows, and
 * takes them to be new.
 */
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
