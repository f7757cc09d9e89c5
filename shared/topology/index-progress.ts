import { UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
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

export function progressKey({ datastore, name }: IndexName): AttributeValue {
  return { S: `progress#${datastore}#${name}` };
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

export function writeIndexProgress(table: DynamoTable, index: IndexName, progress: RepairProgress): Promise<void> {
  return set(table, index, 'progress', { S: JSON.stringify(progress) });
}

export function writeLargestShare(table: DynamoTable, index: IndexName, share: number): Promise<void> {
  return set(table, index, 'largest_share', { N: String(share) });
}

async function set(
  { client, table }: DynamoTable,
  index: IndexName,
  name: 'progress' | 'largest_share',
  value: AttributeValue,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { pk: progressKey(index) },
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    }),
  );
}
