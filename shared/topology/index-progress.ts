import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './dynamo-table.ts';

/**
 * How far the repair has come with an index: an item `progress#trips#rider_index` of the topology table, written by
 * `repair-indexes` every few seconds and read past every cache.
 */
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

export async function readIndexProgress({ client, table }: DynamoTable, datastore: string, name: string): Promise<IndexProgress | undefined> {
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { pk: { S: `progress#${datastore}#${name}` } } }));
  return Item?.['progress']?.S === undefined ? undefined : (JSON.parse(Item['progress'].S) as IndexProgress);
}

export async function writeIndexProgress({ client, table }: DynamoTable, datastore: string, name: string, progress: IndexProgress): Promise<void> {
  await client.send(new PutItemCommand({ TableName: table, Item: { pk: { S: `progress#${datastore}#${name}` }, progress: { S: JSON.stringify(progress) } } }));
}
