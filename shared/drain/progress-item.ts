import { pack, unpack } from '../dynamo/change-item.ts';
import { readState, setState } from '../dynamo/state-table.ts';
import type { Lease } from '../dynamo/lease.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DrainProgress } from './hint-drain.ts';

export interface ProgressStore {
  read(group: string): Promise<DrainProgress | undefined>;
  write(group: string, lease: Pick<Lease, 'token'>, progress: DrainProgress): Promise<void>;
}

/** A packed place takes up to 10 bytes, and an item holds 400 KB. Shards left out begin at their first rows. */
const MOST_PLACES = 36_000;

/** Keeps an item for each group. A lost one loses no write: the next drain begins at the first rows. */
export function progressItems(table: DynamoTable): ProgressStore {
  const keyOf = (group: string): string => `drain#${group}`;
  return {
    async read(group) {
      return unpack<DrainProgress | undefined>((await readState(table, keyOf(group)))?.['progress'], undefined);
    },
    async write(group, { token }, progress) {
      const places = Object.fromEntries(Object.entries(progress.places).slice(0, MOST_PLACES));
      const attributes = { progress: { B: pack({ ...progress, places }) }, token: { N: String(token) } };
      await setState(table, keyOf(group), attributes, {
        condition: 'attribute_not_exists(#token) OR #token <= :token',
      });
    },
  };
}
