import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { IndexName } from './index-catalogue.ts';

/** How far the repair of an index is, written every few seconds. */
interface RepairProgress {
  /** Of each version that is being built: cells of the logs looked at, of those there are. By hash. */
  readonly builds: Readonly<Record<string, { readonly done: number; readonly total: number }>>;
  /** How far the repair is behind the logs, in cells. */
  readonly lag: number;
  /** RFC 3339, UTC. */
  readonly at: string;
}

/** The item `progress#trips#rider_index`. */
export interface IndexProgress extends RepairProgress {
  /** The largest shard's share of the live entries, 0 to 1; null before the first count. */
  readonly largest_share: number | null;
}

const keyOf = ({ datastore, name }: IndexName): string => `progress#${datastore}#${name}`;

export function progressKey(index: IndexName): AttributeValue {
  return { S: keyOf(index) };
}

export function toProgress(item: Record<string, AttributeValue> | undefined): IndexProgress | undefined {
  const share = item?.['largest_share']?.N;
  return item?.['progress']?.S === undefined
    ? undefined
    : {
        ...(JSON.parse(item['progress'].S) as RepairProgress),
        largest_share: share === undefined ? null : Number(share),
      };
}

export function writeIndexProgress(table: DynamoTable, index: IndexName, progress: RepairProgress): Promise<unknown> {
  const values = { ':progress': { S: JSON.stringify(progress) } };
  return updateState(table, { key: keyOf(index), update: 'SET #progress = :progress', values });
}

export function writeLargestShare(table: DynamoTable, index: IndexName, share: number): Promise<unknown> {
  const values = { ':share': { N: String(share) } };
  return updateState(table, { key: keyOf(index), update: 'SET #largest_share = :share', values });
}
