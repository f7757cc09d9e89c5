import { GetItemCommand, UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../dynamo/table.ts';
import type { IndexName } from './index-catalogue.ts';

/** How far the repair of an index is: `progress#trips#rider_index`, written every few seconds. */
export interface IndexProgress {
  /** Of each version that is being built: cells of the logs looked at, of those there are. By hash. */
  readonly builds: Readonly<Record<string, { readonly done: number; readonly total: number }>>;
  /** How far the repair is behind the logs, in cells. */
  readonly lag: number;
  /** The largest shard's share of the live entries, 0 to 1; null while nobody knows. */
  readonly largest_share: number | null;
  /** RFC 3339, UTC. */
  readonly at: string;
}

export function progressKey({ datastore, name }: IndexName): AttributeValue {
  return { S: `progress#${datastore}#${name}` };
}

export function toProgress(item: Record<string, AttributeValue> | undefined): IndexProgress | undefined {
  return item?.['progress']?.S === undefined ? undefined : (JSON.parse(item['progress'].S) as IndexProgress);
}

export async function readIndexProgress(
  { client, table }: DynamoTable,
  index: IndexName,
): Promise<IndexProgress | undefined> {
  return toProgress(
    (await client.send(new GetItemCommand({ TableName: table, Key: { pk: progressKey(index) } }))).Item,
  );
}

export async function writeIndexProgress(
  { client, table }: DynamoTable,
  index: IndexName,
  progress: IndexProgress,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { pk: progressKey(index) },
      UpdateExpression: 'SET #progress = :progress',
      ExpressionAttributeNames: { '#progress': 'progress' },
      ExpressionAttributeValues: { ':progress': { S: JSON.stringify(progress) } },
    }),
  );
}
